import type { WaitDetail } from '../model/instrumentation.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';

/** The wait of a request for one gate and limit, in one part or in several. */
export interface WaitPart {
  readonly gate: GateKind;
  /** The named rate limit that bound, if one did. */
  readonly limit: string | undefined;
  /**
   * The time waited, less than that from begin to end if another gate held the request in between.
   */
  waitMs: number;
  rounds: number;
  readonly beganMsAgo: number;
  endedMsAgo: number;
}

/**
 * Collects the parts of a wait, which the gate reports one after the other when it admits the
 * request. If two limits alternate, such as slots and a rate, a wait has many parts.
 */
export class WaitParts {
  readonly #open = new WeakMap<Ticket, WaitPart[]>();

  /** Whether this part is the whole wait, so that `add` is not needed. Most waits have one part. */
  isWhole(ticket: Ticket, detail: WaitDetail | undefined): boolean {
    return !((detail?.endedMsAgo ?? 0) > 0 || this.#open.has(ticket));
  }

  /** @returns all parts, in order, with the last one; before that an empty list */
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

/** Merges parts to one for each gate and limit, in the order in which these began. */
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
