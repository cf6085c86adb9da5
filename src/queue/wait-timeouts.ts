import { DeadlineExceededError, WaitTimeoutError } from '../model/errors.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket, WaitTimeout } from '../model/ticket.ts';
import type { Clock, Timer } from '../util/clock.ts';
import type { AdmissionCallback } from './admission-callback.ts';
import { Fifo } from './fifo.ts';

/** A gate that can end the wait of a single request. */
interface Expelling {
  readonly waitKind: GateKind;
  expel(ticket: Ticket, owner: AdmissionCallback, error: Error): void;
}

/** A waiting request that was not sent yet. */
class Waiter implements WaitTimeout {
  readonly ticket: Ticket;
  readonly gate: Expelling;
  readonly owner: AdmissionCallback;
  private readonly timeouts: WaitTimeouts;

  constructor(ticket: Ticket, gate: Expelling, owner: AdmissionCallback, timeouts: WaitTimeouts) {
    this.ticket = ticket;
    this.gate = gate;
    this.owner = owner;
    this.timeouts = timeouts;
  }

  end(): void {
    this.timeouts.ended();
  }
}

/**
 * Ends the wait of requests that were not sent within a time from their arrival. The time is the
 * same for all, so they expire in the order of arrival: one timer, and O(1) per request, amortised.
 */
export class WaitTimeouts {
  private readonly clock: Clock;
  private readonly waiters = new Fifo<Waiter, undefined>(
    ({ ticket }) => ticket.waitTimeout === undefined,
  );
  private waitTimeoutMs: number;
  private readonly deadlineMs: number;
  private timer: Timer | undefined = undefined;

  /**
   * @param waitTimeoutMs Infinity: nobody is timed out
   * @param deadlineMs how long requests may take in all, which ends their wait too; Infinity: no bound
   */
  constructor(waitTimeoutMs: number, clock: Clock, deadlineMs = Number.POSITIVE_INFINITY) {
    this.waitTimeoutMs = waitTimeoutMs;
    this.clock = clock;
    this.deadlineMs = deadlineMs;
  }

  get isOn(): boolean {
    return this.longestMs !== Number.POSITIVE_INFINITY;
  }

  private get longestMs(): number {
    return Math.min(this.waitTimeoutMs, this.deadlineMs);
  }

  /** A request starts to wait at a gate. */
  wait(ticket: Ticket, gate: Expelling, owner: AdmissionCallback): void {
    if (!this.isOn || ticket.attempts > 0) return;
    // Settled while its gate decided: it has left, and was counted.
    if (ticket.outcome !== undefined) return;
    const waiter = new Waiter(ticket, gate, owner, this);
    ticket.waitTimeout = waiter;
    this.waiters.push(waiter, undefined, ticket.arrivedAt);
    if (this.timer === undefined) this.arm();
  }

  /**
   * Changes the timeout, also for waiting requests. If there was none before, only for newcomers.
   */
  configure(waitTimeoutMs: number): void {
    this.waitTimeoutMs = waitTimeoutMs;
    this.disarm();
    this.arm();
  }

  /** A request waits no longer. */
  ended(): void {
    this.waiters.markCancelled(1);
    // A cancelled head is dropped at once, which costs less than a sweep.
    if (!this.waiters.seek()) this.disarm();
  }

  private arm(): void {
    if (this.timer !== undefined || !this.isOn || !this.waiters.seek()) return;
    const leftMs = this.waiters.since + this.longestMs - this.clock.now();
    this.timer = this.clock.setTimer(
      () => {
        this.timer = undefined;
        this.expire();
      },
      Math.max(0, leftMs),
    );
  }

  private expire(): void {
    while (this.waiters.seek()) {
      if (this.clock.now() < this.waiters.since + this.longestMs) break;
      const { ticket, gate, owner } = this.waiters.item;
      gate.expel(ticket, owner, this.errorAt(gate));
    }
    this.arm();
  }

  private errorAt({ waitKind }: Expelling): Error {
    const { waitTimeoutMs, deadlineMs } = this;
    if (deadlineMs <= waitTimeoutMs) return new DeadlineExceededError(deadlineMs);
    return new WaitTimeoutError(waitTimeoutMs, waitKind);
  }

  private disarm(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
}
