import type { Instrumentation } from '../model/instrumentation.ts';
import { uniteInstrumentations } from '../model/join-instrumentations.ts';
import type { GateKind } from '../model/outcome.ts';
import { type Ticket, UNQUEUED } from '../model/ticket.ts';
import type { Policy } from '../policies/policy.ts';
import type { Clock } from '../util/clock.ts';
import type { WaitListener } from './gate-rules.ts';
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
      limit: this.timelineOf(isRetry).cause?.limit,
      position,
      waiting,
      untilAt: untilAt < Number.POSITIVE_INFINITY ? untilAt : undefined,
    });
  }

  /**
   * Notes the cause of the wait of a request that is dropped, while it waits or for want of a
   * place, if there is an instrumentation.
   */
  noteExit(ticket: Ticket, owner: AdmissionCallback): void {
    if (this.instrumentationOf(owner) === undefined || ticket.outcome !== undefined) return;
    ticket.gaveUpAt = this.kindOf(owner.isRetry === true);
  }

  /** Books a request that waits no longer, or did not wait at all. */
  ended(ticket: Ticket, owner: AdmissionCallback, isRetry: boolean, now: number): void {
    const instrumentation = this.instrumentationOf(owner);
    const timeline = this.timelineOf(isRetry);
    const since = ticket.waitsSince;
    let rounds = 1 + ticket.rounds;
    ticket.waitsSince = UNQUEUED;
    ticket.rounds = 0;
    if (!Number.isFinite(since)) {
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

/** The cause of a wait: a policy, and its binding named limit if it has several. */
interface WaitCause {
  readonly gate: GateKind;
  readonly limit: string | undefined;
}

/** A part of a wait, from one change of its cause to the next. */
interface WaitSegment {
  readonly cause: WaitCause;
  readonly waitMs: number;
  /** How long ago it ended, in ms. */
  readonly endedMsAgo: number;
}

/** The greatest number of segments that are kept. */
const MAX_SEGMENTS = 256;

/**
 * The causes of a queue's waits over time. Each wait in the queue is cut along it: a request that
 * waited first for a slot and then for the rate is booked so, without a record for each request.
 * The timeline keeps at most {@link MAX_SEGMENTS} changes; beyond that two neighbours become one,
 * with the cause of the longer.
 */
class WaitTimeline {
  private starts: number[] = [];
  private causes: WaitCause[] = [];
  /**
   * The present cause, which is the last of them; undefined if nothing has held this queue back
   * since it was empty. A field: V8 reads index -1 of an empty array through its runtime.
   */
  cause: WaitCause | undefined = undefined;

  /**
   * Whether this is the present cause already: then there is nothing to note, and the clock is not
   * read.
   */
  isBoundBy(gate: GateKind, limit: string | undefined): boolean {
    return isOf(this.cause, gate, limit);
  }

  /** Makes this the present cause, which it was not. */
  note(gate: GateKind, limit: string | undefined, now: number): void {
    const last = this.starts.length - 1;
    // A cause of no duration is dropped.
    if (last >= 0 && now <= (this.starts[last] as number)) {
      this.starts.pop();
      this.causes.pop();
      this.cause = this.causes.at(-1);
      if (this.isBoundBy(gate, limit)) return;
    }
    if (this.starts.length >= MAX_SEGMENTS) this.coarsen(now);
    this.cause = { gate, limit };
    this.starts.push(now);
    this.causes.push(this.cause);
  }

  /** The queue is empty. */
  clear(): void {
    if (this.starts.length === 0) return;
    this.starts = [];
    this.causes = [];
    this.cause = undefined;
  }

  /** The cause during the whole time since; undefined if it changed, see `cut`. */
  soleCauseSince(since: number): WaitCause | undefined {
    const last = this.starts.length - 1;
    return last <= 0 || (this.starts[last] as number) <= since ? this.cause : undefined;
  }

  /** The parts of a wait that ends now, in order, without those of no duration. */
  cut(since: number, now: number): WaitSegment[] {
    const segments: WaitSegment[] = [];
    let end = now;
    for (let at = this.starts.length - 1; at >= 0 && end > since; at -= 1) {
      const start = at === 0 ? since : Math.max(since, this.starts[at] as number);
      const cause = this.causes[at] as WaitCause;
      if (start < end) segments.push({ cause, waitMs: end - start, endedMsAgo: now - end });
      end = Math.min(end, start);
    }
    return segments.reverse();
  }

  /** Joins neighbouring segments in pairs. */
  private coarsen(now: number): void {
    const starts: number[] = [];
    const causes: WaitCause[] = [];
    for (let at = 0; at < this.starts.length; at += 2) {
      const start = this.starts[at] as number;
      const middle = this.starts[at + 1] ?? now;
      const end = this.starts[at + 2] ?? now;
      const longer = end - middle > middle - start ? this.causes[at + 1] : this.causes[at];
      const before = causes[causes.length - 1];
      if (longer === undefined || isOf(before, longer.gate, longer.limit)) continue;
      starts.push(start);
      causes.push(longer);
    }
    this.starts = starts;
    this.causes = causes;
  }
}

function isOf(cause: WaitCause | undefined, gate: GateKind, limit: string | undefined): boolean {
  return cause?.gate === gate && cause.limit === limit;
}
