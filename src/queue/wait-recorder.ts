import type { Instrumentation } from '../model/instrumentation.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Policy } from '../policies/policy.ts';
import type { Clock } from '../util/clock.ts';
import type { WaitListener } from './gate-rules.ts';
import { WaitTimeline } from './wait-timeline.ts';

/**
 * Books the waits of requests. One calculation feeds the request's own figures, the instrumentation
 * and the listener, so that all of them agree.
 */
export class WaitRecorder {
  /** The causes of waits over time, for requests that were never sent and for retries. */
  private readonly first = new WaitTimeline();
  private readonly retries = new WaitTimeline();
  private readonly kind: GateKind;
  private readonly listener: WaitListener | undefined;

  /** @param kind the gate that requests are reported to have passed if they did not wait */
  constructor(kind: GateKind, listener: WaitListener | undefined) {
    this.kind = kind;
    this.listener = listener;
  }

  /** Which named limit binds them, if one does. */
  limitOf(isRetry: boolean): string | undefined {
    return (isRetry ? this.retries : this.first).cause?.limit;
  }

  /** The present cause of waits. */
  kindOf(isRetry: boolean): GateKind {
    return (isRetry ? this.retries : this.first).cause?.gate ?? this.kind;
  }

  /** Makes a policy the present cause. @param at the time; NaN if it was not read yet */
  note(
    isRetry: boolean,
    { binding = this.kind, bindingLimit }: Pick<Policy, 'binding' | 'bindingLimit'>,
    at: number,
    clock: Clock,
  ): void {
    const timeline = isRetry ? this.retries : this.first;
    if (timeline.isBoundBy(binding, bindingLimit)) return;
    timeline.note(binding, bindingLimit, Number.isNaN(at) ? clock.now() : at);
  }

  /** The queue is empty. */
  clear(): void {
    this.first.clear();
    this.retries.clear();
  }

  /** Books a request that waits no longer, or did not wait at all. */
  ended(
    ticket: Ticket,
    isRetry: boolean,
    now: number,
    instrumentation: Instrumentation | undefined,
  ): void {
    const timeline = isRetry ? this.retries : this.first;
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
      const told = isLast ? Math.max(1, rounds) : 1;
      rounds -= 1;
      this.book(ticket, cause.gate, cause.limit, waitMs, told, endedMsAgo, instrumentation);
    }
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
