import type { Clock, Timer } from '../model/clock.ts';
import type { Probe } from '../model/probe.ts';
import type { Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from '../queue/admission-callback.ts';
import type { Gate } from '../queue/gate.ts';

/** Who is told how a wait ended: exactly one of the two, unless it is cancelled. */
export interface Waiting {
  /** The request may be sent again. */
  ready(): void;
  /** Its deadline has passed first. */
  expired(): void;
}

/** A request between two attempts: first a delay of its own, then the gates that all attempts pass. */
export class RetryWait implements AdmissionCallback {
  gone = false;
  queued = 0;
  readonly isRetry = true;
  private readonly ticket: Ticket;
  private readonly gates: readonly Gate[];
  private readonly waiting: Waiting;
  readonly probe: Probe | undefined;
  private delay: Timer | undefined = undefined;
  private deadline: Timer | undefined = undefined;
  private passed = 0;
  /** Where the request waits. */
  private waitsAt: Gate | undefined = undefined;

  constructor(ticket: Ticket, gates: readonly Gate[], waiting: Waiting, probe?: Probe) {
    this.ticket = ticket;
    this.gates = gates;
    this.waiting = waiting;
    this.probe = probe;
  }

  /**
   * @param delayMs 0: the gates alone
   * @param leftMs time left until the deadline; Infinity: there is none
   */
  start(clock: Clock, delayMs: number, leftMs: number): void {
    const startedAt = clock.now();
    if (leftMs !== Number.POSITIVE_INFINITY) {
      this.deadline = clock.setTimer(() => {
        // First, so that it cannot pass any more, whatever they do who are told of its wait.
        this.gone = true;
        if (this.waitsAt === undefined) this.retryWaited(clock.now() - startedAt);
        else this.waitsAt.gaveUp(this.ticket, this);
        this.cancel();
        this.waiting.expired();
      }, leftMs);
    }
    if (delayMs === 0) this.enterGates();
    else {
      this.probe?.queued?.(this.ticket, 'retry');
      // Whoever was told may have unsubscribed.
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
    // Others may pass by that, and one of them may cancel this again.
    const gate = this.waitsAt;
    this.waitsAt = undefined;
    gate?.left(this);
  }

  /** The delay of its own is over, or was cut short. */
  private retryWaited(waitMs: number): void {
    this.ticket.waited('retry', waitMs, 1);
    this.probe?.admitted?.(this.ticket, 'retry', waitMs, 1);
  }

  private enterGates(): void {
    for (let gate = this.gates[this.passed]; gate !== undefined; gate = this.gates[this.passed]) {
      this.passed += 1;
      this.waitsAt = gate;
      // It is told when it may pass, or was told already.
      if (!gate.enter(this.ticket, this)) return;
      this.waitsAt = undefined;
    }
    this.deadline?.cancel();
    if (!this.gone) this.waiting.ready();
  }
}
