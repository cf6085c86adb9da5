import type { Instrumentation } from '../model/instrumentation.ts';
import type { Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from '../queue/admission-callback.ts';
import type { Gate } from '../queue/gate.ts';
import type { Clock, Timer } from '../util/clock.ts';

/** Receives the end of a wait: exactly one of the two calls, unless the wait is cancelled. */
export interface Waiting {
  /** The request may be sent again. */
  ready(): void;
  /** Its deadline passed first. */
  expired(): void;
}

/** A request between two attempts: first its own delay, then the gates of attempts. */
export class RetryWait implements AdmissionCallback {
  gone = false;
  queued = 0;
  readonly isRetry = true;
  private readonly ticket: Ticket;
  private readonly gates: readonly Gate[];
  private readonly waiting: Waiting;
  readonly instrumentation: Instrumentation | undefined;
  private delay: Timer | undefined = undefined;
  private deadline: Timer | undefined = undefined;
  private passed = 0;
  /** The gate where the request waits. */
  private waitsAt: Gate | undefined = undefined;

  constructor(
    ticket: Ticket,
    gates: readonly Gate[],
    waiting: Waiting,
    instrumentation?: Instrumentation,
  ) {
    this.ticket = ticket;
    this.gates = gates;
    this.waiting = waiting;
    this.instrumentation = instrumentation;
  }

  /**
   * @param delayMs 0 for only the gates
   * @param leftMs the time left until the deadline; Infinity if there is none
   */
  start(clock: Clock, delayMs: number, leftMs: number): void {
    const startedAt = clock.now();
    if (leftMs !== Number.POSITIVE_INFINITY) {
      this.deadline = clock.setTimer(() => {
        // First, so that it cannot pass any more, whatever the listeners of its wait do.
        this.gone = true;
        if (this.waitsAt === undefined) this.retryWaited(clock.now() - startedAt);
        else this.waitsAt.gaveUp(this.ticket, this);
        this.cancel();
        this.waiting.expired();
      }, leftMs);
    }
    if (delayMs === 0) this.enterGates();
    else {
      this.instrumentation?.queued?.(this.ticket, 'retry');
      // A listener may have unsubscribed.
      if (this.gone) return;
      this.delay = clock.setTimer(() => {
        this.retryWaited(delayMs);
        if (!this.gone) this.enterGates();
      }, delayMs);
    }
  }

  admitted(): void {
    this.waitsAt = undefined;
    if (!this.gone) this.enterGates();
  }

  cancel(): void {
    this.gone = true;
    this.delay?.cancel();
    this.deadline?.cancel();
    // This may let others pass, and one of them may cancel this wait again.
    const gate = this.waitsAt;
    this.waitsAt = undefined;
    gate?.left(this);
  }

  /** Its own delay is over, or was cut short. */
  private retryWaited(waitMs: number): void {
    this.ticket.waited('retry', waitMs, 1);
    this.instrumentation?.admitted?.(this.ticket, 'retry', waitMs, 1);
  }

  private enterGates(): void {
    for (let gate = this.gates[this.passed]; gate !== undefined; gate = this.gates[this.passed]) {
      this.passed += 1;
      this.waitsAt = gate;
      // It is called when it may pass, or was called already.
      if (!gate.enter(this.ticket, this)) return;
      this.waitsAt = undefined;
    }
    this.deadline?.cancel();
    if (!this.gone) this.waiting.ready();
  }
}
