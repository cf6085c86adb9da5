import { DeadlineExceededError, WaitTimeoutError } from '../model/errors.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket, WaitTimeout } from '../model/ticket.ts';
import type { Clock } from '../util/clock.ts';
import { type Timed, Timeouts } from '../util/timeouts.ts';
import type { AdmissionCallback } from './admission-callback.ts';

/** A gate that can end the wait of a single request. */
interface Expelling {
  readonly waitKind: GateKind;
  expel(ticket: Ticket, owner: AdmissionCallback, error: Error): void;
}

/** A waiting request that was not sent yet. */
class Waiter implements WaitTimeout, Timed {
  before: Timed | undefined = undefined;
  after: Timed | undefined = undefined;
  private readonly ticket: Ticket;
  private readonly gate: Expelling;
  private readonly owner: AdmissionCallback;
  private readonly timeouts: WaitTimeouts;

  constructor(ticket: Ticket, gate: Expelling, owner: AdmissionCallback, timeouts: WaitTimeouts) {
    this.ticket = ticket;
    this.gate = gate;
    this.owner = owner;
    this.timeouts = timeouts;
  }

  get startedAt(): number {
    return this.ticket.arrivedAt;
  }

  end(): void {
    this.timeouts.ended(this);
  }

  timedOut(): void {
    const { gate, ticket, owner, timeouts } = this;
    gate.expel(ticket, owner, timeouts.errorAt(gate.waitKind));
  }
}

/** Ends the wait of requests that were not sent within a time from their arrival. */
export class WaitTimeouts {
  private readonly timeouts: Timeouts;
  private waitTimeoutMs: number;
  private readonly deadlineMs: number;

  /**
   * @param waitTimeoutMs Infinity: nobody is timed out
   * @param deadlineMs how long requests may take in all, which ends their wait too; Infinity: no bound
   */
  constructor(waitTimeoutMs: number, clock: Clock, deadlineMs = Number.POSITIVE_INFINITY) {
    this.waitTimeoutMs = waitTimeoutMs;
    this.deadlineMs = deadlineMs;
    this.timeouts = new Timeouts(Math.min(waitTimeoutMs, deadlineMs), clock, true);
  }

  get isOn(): boolean {
    return this.timeouts.timeoutMs !== Number.POSITIVE_INFINITY;
  }

  /** A request that was not sent yet starts to wait at a gate. */
  wait(ticket: Ticket, gate: Expelling, owner: AdmissionCallback, now: number): void {
    if (!this.isOn || ticket.attempts > 0) return;
    const waiter = new Waiter(ticket, gate, owner, this);
    ticket.waitTimeout = waiter;
    this.timeouts.started(waiter, now);
  }

  /**
   * Changes the timeout, also for waiting requests. If there was none before, only for newcomers.
   */
  configure(waitTimeoutMs: number): void {
    this.waitTimeoutMs = waitTimeoutMs;
    this.timeouts.configure(Math.min(waitTimeoutMs, this.deadlineMs));
  }

  /** A request waits no longer. */
  ended(waiter: Timed): void {
    this.timeouts.ended(waiter);
  }

  errorAt(waitKind: GateKind): Error {
    const { waitTimeoutMs, deadlineMs } = this;
    if (deadlineMs <= waitTimeoutMs) return new DeadlineExceededError(deadlineMs);
    return new WaitTimeoutError(waitTimeoutMs, waitKind);
  }
}
