import type { Verdict } from './feedback.ts';
import type { SettleOutcome } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** Follows the requests of one gate. None of its methods may throw or be slow. */
export interface RequestFollower {
  /** A retry is sent. */
  resent(ticket: Ticket): void;
  /**
   * Called when the answer to an attempt was not a success.
   * @param epochBefore the epoch of the backoff before: a later epoch was caused by this answer
   */
  rejected(
    ticket: Ticket,
    verdict: Verdict,
    epochBefore: number,
    epochAfter: number,
    error: unknown,
  ): void;
  /** A request has ended, and its leases are given back. */
  settled(ticket: Ticket, outcome: SettleOutcome): void;
}

/**
 * The place at a gate where an inspector observes its requests, while it runs. Unlike an
 * instrumentation it can be set and removed at any time. Without a follower each event costs one
 * check.
 */
export class Tap {
  follower: RequestFollower | undefined = undefined;
  /**
   * The attempts sent while there was a follower, and their bytes: counted here, without a call of
   * the follower.
   */
  sentCount = 0;
  sentBytes = 0;

  /** An attempt is sent. */
  sent(ticket: Ticket): void {
    if (this.follower === undefined) return;
    this.sentCount += 1;
    this.sentBytes += ticket.bytes;
    if (ticket.attempts !== 1) this.follower.resent(ticket);
  }
}

/** Remembers the traces of requests, while an inspector wants to link to them. */
class TraceIds {
  #ids: WeakMap<object, string> | undefined = undefined;

  /** Starts or stops to remember traces. */
  keep(isWanted: boolean): void {
    this.#ids = isWanted ? new WeakMap() : undefined;
  }

  remember(ticket: object, traceId: string): void {
    this.#ids?.set(ticket, traceId);
  }

  /** The trace of a request; undefined if it is not traced, or traces were not remembered. */
  of(ticket: object): string | undefined {
    return this.#ids?.get(ticket);
  }
}

export const traceIds = new TraceIds();
