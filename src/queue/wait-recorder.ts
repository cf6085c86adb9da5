import type { Instrumentation } from '../model/instrumentation.ts';
import { uniteInstrumentations } from '../model/join-instrumentations.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Policy } from '../policies/policy.ts';
import type { Clock } from '../util/clock.ts';
import type { WaitListener } from './gate-rules.ts';
import { WaitTimeline } from './wait-timeline.ts';
import type { AdmissionCallback } from './waiting-requests.ts';

/**
 * Books the waits of requests. One calculation feeds the request's own figures, the instrumentation
 * and the listener, so that all of them agree.
 */
export class WaitRecorder {
  /** The causes of waits over time, for requests that were never sent and for retries. */
  private readonly first = new WaitTimeline();
  private readonly retries = new WaitTimeline();
  private readonly kind: GateKind;
  private readonly clock: Clock;
  private readonly instrumentation: Instrumentation | undefined;
  private readonly listener: WaitListener | undefined;
  private readonly isShared: boolean;

  /**
   * @param kind the gate that requests are reported to have passed if they did not wait
   * @param isShared whether several streams bring requests, each with an instrumentation of its own
   */
  constructor(
    kind: GateKind,
    clock: Clock,
    instrumentation: Instrumentation | undefined,
    listener: WaitListener | undefined,
    isShared: boolean,
  ) {
    this.kind = kind;
    this.clock = clock;
    this.instrumentation = instrumentation;
    this.listener = listener;
    this.isShared = isShared;
  }

  /**
   * The instrumentation that receives the waits of a request. At a shared gate it includes that of
   * the stream which brought the request.
   */
  instrumentationOf(owner: AdmissionCallback): Instrumentation | undefined {
    if (!this.isShared || owner.instrumentation === undefined) return this.instrumentation;
    return this.instrumentation === undefined
      ? owner.instrumentation
      : uniteInstrumentations(this.instrumentation, owner.instrumentation);
  }

  /** The named limit that binds a queue, if one does. */
  private limitOf(isRetry: boolean): string | undefined {
    return this.timelineOf(isRetry).cause?.limit;
  }

  /** The present cause of waits. */
  kindOf(isRetry: boolean): GateKind {
    return this.timelineOf(isRetry).cause?.gate ?? this.kind;
  }

  /** Makes a policy the present cause. @param at the time; NaN if it was not read yet */
  note(
    isRetry: boolean,
    { binding = this.kind, bindingLimit }: Pick<Policy, 'binding' | 'bindingLimit'>,
    at: number,
  ): void {
    const timeline = this.timelineOf(isRetry);
    if (timeline.isBoundBy(binding, bindingLimit)) return;
    timeline.note(binding, bindingLimit, Number.isNaN(at) ? this.clock.now() : at);
  }

  /** The queue is empty. */
  clear(): void {
    this.first.clear();
    this.retries.clear();
  }

  /** Whether there is a listener of waits. */
  isHeard(): boolean {
    return this.listener?.isHeard() === true;
  }

  /**
   * Reports to the listener that a request has begun to wait.
   * @param position its place in the queue, from 1
   * @param waiting the number of waiting requests, including this one
   * @param untilAt when the gate decides again on the first request; Infinity: time alone does not
   * help
   */
  began(owner: AdmissionCallback, position: number, waiting: number, untilAt: number): void {
    const isRetry = owner.isRetry === true;
    this.listener?.waits({
      gate: this.kindOf(isRetry),
      limit: this.limitOf(isRetry),
      position,
      waiting,
      untilAt: untilAt < Number.POSITIVE_INFINITY ? untilAt : undefined,
    });
  }

  /**
   * Notes the cause of the wait of a request that is dropped, while it waits or for want of a
   * place, if there is an instrumentation.
   */
  givesUp(ticket: Ticket, owner: AdmissionCallback): void {
    if (this.instrumentationOf(owner) === undefined || ticket.outcome !== undefined) return;
    ticket.gaveUpAt = this.kindOf(owner.isRetry === true);
  }

  /** Books a request that waits no longer, or did not wait at all. */
  ended(ticket: Ticket, owner: AdmissionCallback, isRetry: boolean, now: number): void {
    const instrumentation = this.instrumentationOf(owner);
    const timeline = this.timelineOf(isRetry);
    const since = ticket.waitsSince;
    let rounds = 1 + ticket.rounds;
    ticket.waitsSince = Number.NaN;
    ticket.rounds = 0;
    if (!(since > Number.NEGATIVE_INFINITY)) {
      instrumentation?.admitted?.(ticket, this.kind, 0, 0);
      return;
    }
    const sole = timeline.soleCauseSince(since);
    const segments = sole === undefined ? timeline.cut(since, now) : [];
    if (segments.length === 0) {
      const { gate = this.kind, limit } = sole ?? timeline.cause ?? {};
      this.book(ticket, gate, limit, Math.max(0, now - since), rounds, 0, instrumentation);
      return;
    }
    // Each part is a round; rounds without a part count for the last one.
    for (const [index, { cause, waitMs, endedMsAgo }] of segments.entries()) {
      const isLast = index === segments.length - 1;
      const reported = isLast ? Math.max(1, rounds) : 1;
      rounds -= 1;
      this.book(ticket, cause.gate, cause.limit, waitMs, reported, endedMsAgo, instrumentation);
    }
  }

  private timelineOf(isRetry: boolean): WaitTimeline {
    return isRetry ? this.retries : this.first;
  }

  private book(
    ticket: Ticket,
    gate: GateKind,
    limit: string | undefined,
    waitMs: number,
    rounds: number,
    endedMsAgo: number,
    instrumentation: Instrumentation | undefined,
  ): void {
    ticket.waited(gate, waitMs, rounds, limit);
    instrumentation?.admitted?.(ticket, gate, waitMs, rounds, { limit, endedMsAgo });
    this.listener?.waited(gate, waitMs, rounds, limit);
  }
}
