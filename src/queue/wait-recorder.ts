import type { Core } from '../core/core.ts';
import type { Clock } from '../model/clock.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Probe } from '../model/probe.ts';
import type { Ticket } from '../model/ticket.ts';
import type { WaitListener } from './gate-rules.ts';
import { WaitTimeline } from './wait-timeline.ts';

/**
 * Books what requests have waited: once, and from one cut of their waits, in their own figures, with
 * the instrumentation and with the listener, so that all of these agree.
 */
export class WaitRecorder {
  /** What has held back the requests that were never sent, and those that were. */
  private readonly first = new WaitTimeline();
  private readonly retries = new WaitTimeline();
  private readonly kind: GateKind;
  private readonly listener: WaitListener | undefined;

  /** @param kind what those are told to have passed that did not wait */
  constructor(kind: GateKind, listener: WaitListener | undefined) {
    this.kind = kind;
    this.listener = listener;
  }

  /** Which named limit binds them, if one does. */
  limitOf(isRetry: boolean): string | undefined {
    return (isRetry ? this.retries : this.first).cause?.limit;
  }

  /** What binds those now that wait. */
  kindOf(isRetry: boolean): GateKind {
    return (isRetry ? this.retries : this.first).cause?.gate ?? this.kind;
  }

  /** From now on this policy binds. @param at the time; NaN: it was not read yet */
  note(
    isRetry: boolean,
    { binding = this.kind, bindingLimit }: Pick<Core, 'binding' | 'bindingLimit'>,
    at: number,
    clock: Clock,
  ): void {
    const timeline = isRetry ? this.retries : this.first;
    if (timeline.isBoundBy(binding, bindingLimit)) return;
    timeline.note(binding, bindingLimit, Number.isNaN(at) ? clock.now() : at);
  }

  /** Nobody waits any more. */
  clear(): void {
    this.first.clear();
    this.retries.clear();
  }

  /** A request waits no longer, or has not waited at all. */
  ended(ticket: Ticket, isRetry: boolean, now: number, probe: Probe | undefined): void {
    const timeline = isRetry ? this.retries : this.first;
    const since = ticket.waitsSince;
    let rounds = 1 + ticket.rounds;
    ticket.waitsSince = Number.NaN;
    ticket.rounds = 0;
    if (!(since > Number.NEGATIVE_INFINITY)) {
      probe?.admitted?.(ticket, this.kind, 0, 0);
      return;
    }
    const sole = timeline.soleCauseSince(since);
    const segments = sole === undefined ? timeline.cut(since, now) : [];
    if (segments.length === 0) {
      const { gate = this.kind, limit } = sole ?? timeline.cause ?? {};
      this.book(ticket, gate, limit, Math.max(0, now - since), rounds, 0, probe);
      return;
    }
    // Each part is a round; those that came before it was told why count for the last.
    for (const [index, { cause, waitMs, endedMsAgo }] of segments.entries()) {
      const isLast = index === segments.length - 1;
      const told = isLast ? Math.max(1, rounds) : 1;
      rounds -= 1;
      this.book(ticket, cause.gate, cause.limit, waitMs, told, endedMsAgo, probe);
    }
  }

  private book(
    ticket: Ticket,
    gate: GateKind,
    limit: string | undefined,
    waitMs: number,
    rounds: number,
    endedMsAgo: number,
    probe: Probe | undefined,
  ): void {
    ticket.waited(gate, waitMs, rounds, limit);
    probe?.admitted?.(ticket, gate, waitMs, rounds, { limit, endedMsAgo });
    this.listener?.waited(gate, waitMs, rounds, limit);
  }
}
