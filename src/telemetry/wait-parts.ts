import type { WaitDetail } from '../model/instrumentation.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';

/** A gate that a request has waited for, in one part of its wait or in several. */
export interface WaitPart {
  readonly gate: GateKind;
  /** The named rate limit that bound, if one did. */
  readonly limit: string | undefined;
  /** Less than the time from begin to end, if the request waited for another gate in between. */
  waitMs: number;
  rounds: number;
  readonly beganMsAgo: number;
  endedMsAgo: number;
}

/**
 * Gathers the parts of waits, which are told one after the other when a request is let pass: where
 * a limit of slots and one of a rate take turns, a wait has as many parts as there were turns.
 */
export class WaitParts {
  readonly #open = new WeakMap<Ticket, WaitPart[]>();

  /** Whether this is the whole wait, as most are, so that it need not be added. */
  isWhole(ticket: Ticket, detail: WaitDetail | undefined): boolean {
    return !((detail?.endedMsAgo ?? 0) > 0 || this.#open.has(ticket));
  }

  /** @returns with the last part all of them, in order; before that none */
  add(
    ticket: Ticket,
    gate: GateKind,
    waitMs: number,
    rounds: number,
    { limit, endedMsAgo = 0 }: Partial<WaitDetail> = {},
  ): WaitPart[] {
    const parts = this.#open.get(ticket) ?? [];
    parts.push({ gate, limit, waitMs, rounds, beganMsAgo: endedMsAgo + waitMs, endedMsAgo });
    if (endedMsAgo > 0) {
      this.#open.set(ticket, parts);
      return [];
    }
    this.#open.delete(ticket);
    return parts;
  }
}

/** One for each gate and limit, from its first part to its last, in the order in which they began. */
export function joined(parts: readonly WaitPart[]): readonly WaitPart[] {
  const causes: WaitPart[] = [];
  for (const part of parts) {
    const cause = causes.find(({ gate, limit }) => gate === part.gate && limit === part.limit);
    if (cause === undefined) {
      causes.push(part);
      continue;
    }
    cause.waitMs += part.waitMs;
    cause.rounds += part.rounds;
    cause.endedMsAgo = part.endedMsAgo;
  }
  return causes;
}
