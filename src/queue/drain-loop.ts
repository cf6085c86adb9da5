import type { Ticket } from '../model/ticket.ts';
import { type Policy, REFUSED } from '../policies/policy.ts';
import type { Clock } from '../util/clock.ts';
import { ResettableTimer } from '../util/timers.ts';
import type { Admission } from './admission.ts';
import type { WaitRecorder } from './wait-recorder.ts';
import {
  type AdmissionCallback,
  headTicket,
  notifyAdmitted,
  type RequestQueue,
  type WaitingRequests,
} from './waiting-requests.ts';

/** Stands for a time that was not read, because only a returned lease can help. */
const UNREAD = Number.NaN;

/** The cause of waits at a paused gate. */
const PAUSED = { binding: 'paused' } as const;

/**
 * - `idle`: no request is decided on;
 * - `deciding`: policies are asked about a request, or listeners are called for it; it stays the
 * head of its queue;
 * - `draining`: the loop is between two decisions.
 */
type LoopState = 'idle' | 'deciding' | 'draining';

/**
 * What a gate has decided on a newcomer:
 * - `passed`: it passed, or was refused;
 * - `held`: it is first in line, and has to wait;
 * - `behind`: nothing, because other requests are before it, or the gate is paused.
 */
export type Decision = 'passed' | 'held' | 'behind';

/**
 * Makes the decisions of a gate. It decides on a newcomer if no request is before it. It decides on
 * waiting requests, most urgent first, until one must wait longer or none is left. A re-entrant
 * call (a listener releases a lease, a request sends another) only marks work for the running loop.
 * At most one timer is set, and only while a request waits and time alone can help.
 */
export class DrainLoop {
  readonly requests: WaitingRequests;
  /** The causes of their waits. */
  readonly waits: WaitRecorder;
  private readonly admission: Admission<Policy>;
  private readonly clock: Clock;
  private readonly timer: ResettableTimer;
  private state: LoopState = 'idle';
  /**
   * Whether anything changed since the policies answered, so that the answer may be out of date.
   */
  private isStale = false;
  /** The time at which the policies were asked. */
  private askedAt = UNREAD;
  /** Whether the gate is paused. A decision that is being made ends first. */
  isPaused = false;
  /** Work that must run after the present decision; undefined if there is none. */
  private deferred: (() => void)[] | undefined = undefined;

  constructor(
    admission: Admission<Policy>,
    requests: WaitingRequests,
    waits: WaitRecorder,
    clock: Clock,
  ) {
    this.requests = requests;
    this.waits = waits;
    this.admission = admission;
    this.clock = clock;
    this.timer = new ResettableTimer(clock, () => this.drain());
  }

  /**
   * When the loop decides again, if no event comes before; Infinity if time alone does not help.
   */
  get nextAt(): number {
    return this.timer.at;
  }

  /** Whether the loop decides on a head, so that no head may be moved. */
  get isDeciding(): boolean {
    return this.state === 'deciding';
  }

  /** Whether no request is before a newcomer. A method: V8 calls a getter through its runtime. */
  isFree(): boolean {
    return this.state === 'idle' && !this.isPaused && this.requests.isEmpty();
  }

  /** Decides on a newcomer, if it is first in line. */
  decide(ticket: Ticket, owner: AdmissionCallback, now: number): Decision {
    if (!this.isFree()) return 'behind';
    const isRetry = owner.isRetry === true;
    const wait = this.ask(ticket, isRetry, now);
    if (wait > 0) {
      if (this.isPaused) return 'held';
      this.askedAt = now;
      this.noteBinding(isRetry);
      // Requests that arrived while policies were asked come before this one, and wait for a
      // decision.
      this.timer.set(this.requests.length === 0 ? wait : 0, now);
      return 'held';
    }
    if (wait === REFUSED) this.admission.refuse(ticket, now);
    else this.admission.charge(ticket, isRetry, now);
    this.waits.ended(ticket, owner, isRetry, now);
    this.endDecision(now);
    return 'passed';
  }

  /** Decides on a newcomer that does not wait. @returns whether it passed */
  admitsAtOnce(ticket: Ticket): boolean {
    if (!this.isFree()) return false;
    const now = this.clock.now();
    const wait = this.ask(ticket, false, now);
    if (wait === 0) this.admission.charge(ticket, false, now);
    else if (wait === REFUSED) this.admission.refuse(ticket, now);
    this.endDecision(now);
    return wait === 0;
  }

  /**
   * Clears the timer if no request waits: a newcomer for which it was set does not wait after all.
   */
  restIfEmpty(): void {
    if (this.requests.length === 0 && !this.isPaused) this.becomesIdle();
  }

  /**
   * Lets all requests pass that may. Called when a lease was given back, a limit changed, time
   * passed, or a request left. A re-entrant call leaves the work to the running loop.
   */
  drain(): void {
    if (this.state !== 'idle') {
      this.isStale = true;
      return;
    }
    if (this.isPaused) {
      this.drainPaused();
      return;
    }
    try {
      for (let goesOn = true; goesOn; ) {
        this.state = 'draining';
        this.isStale = false;
        if (this.deferred !== undefined) this.doDeferred(this.deferred);
        const queue = this.requests.next();
        const wait = queue === undefined ? this.becomesIdle() : this.serve(queue);
        if (wait > 0) this.timer.set(wait, this.askedAt);
        goesOn = (wait === 0 || this.isStale) && !this.isPaused;
      }
    } finally {
      this.comeToRest();
    }
  }

  /** Lets no request pass until `resume`. */
  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    if (this.state === 'idle') this.comeToRest();
  }

  /** Ends a pause, and lets all requests pass that may. */
  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.drain();
  }

  /**
   * Runs work that must not run during a decision: at once, or right after the present decision.
   * Then admits all requests that may pass.
   */
  betweenDecisions(work: () => void): void {
    if (this.state === 'idle') {
      this.state = 'draining';
      work();
      this.comeToRest();
      this.drain();
      return;
    }
    this.deferred ??= [];
    this.deferred.push(work);
    this.isStale = true;
    // After a decision on a newcomer the loop does not run by itself.
    queueMicrotask(() => this.drain());
  }

  /** Runs work between decisions during which no head of a queue may be moved. */
  keepingHeads(work: () => void): void {
    const { state } = this;
    this.state = 'deciding';
    work();
    this.state = state;
    if (state === 'idle') this.comeToRest();
  }

  /**
   * Calls the `queued` hook for a request. While the hook runs, the request can neither pass nor be
   * dropped.
   */
  reportQueued(ticket: Ticket, owner: AdmissionCallback): void {
    const instrumentation = this.waits.instrumentationOf(owner);
    if (instrumentation === undefined) return;
    const { state, isStale: wasStale } = this;
    const { length } = this.requests;
    if (state !== 'deciding') this.requests.next();
    this.isStale = false;
    this.keepingHeads(() =>
      instrumentation.queued?.(ticket, this.waits.kindOf(owner.isRetry === true)),
    );
    if (this.isStale || this.requests.length !== length) this.drain();
    // If the gate decides on another request, keep its mark, so that it decides again.
    this.isStale ||= wasStale;
  }

  /**
   * Asks the policies about a newcomer, and again if anything changed meanwhile. @returns as
   * `Policy.wait`
   */
  private ask(ticket: Ticket, isRetry: boolean, now: number): number {
    this.state = 'deciding';
    try {
      let wait: number;
      do {
        this.isStale = false;
        wait = this.admission.wait(ticket, isRetry, now);
      } while (wait !== 0 && this.isStale && !this.isPaused);
      return this.isPaused ? Number.POSITIVE_INFINITY : wait;
    } finally {
      this.comeToRest();
    }
  }

  /** Ends the decision on a newcomer. Requests that arrived meanwhile still wait for a decision. */
  private endDecision(now: number): void {
    if (this.isPaused) return;
    if (this.requests.length > 0) this.timer.set(0, now);
    else this.becomesIdle();
  }

  /** Removes cancelled requests while the gate is paused. */
  private drainPaused(): void {
    if (this.deferred === undefined) this.requests.next();
    else {
      this.state = 'draining';
      this.doDeferred(this.deferred);
      this.comeToRest();
    }
  }

  private doDeferred(deferred: readonly (() => void)[]): void {
    this.deferred = undefined;
    for (const work of deferred) work();
    this.state = 'draining';
  }

  /** Ends the work. A paused gate has no timer, and leaves shared limits to other gates. */
  private comeToRest(): void {
    this.state = 'idle';
    if (!this.isPaused) return;
    this.timer.cancel();
    const now = this.clock.now();
    this.waits.note(false, PAUSED, now);
    this.waits.note(true, PAUSED, now);
    this.admission.policy.idle?.();
  }

  /** Decides on the head of a queue. @returns its wait in ms; 0: decide on the next one */
  private serve(queue: RequestQueue): number {
    const { admission } = this;
    const isRetry = queue === this.requests.retries;
    this.state = 'deciding';
    const ticket = headTicket(queue);
    if (ticket === undefined) return 0;
    const isLive = ticket.outcome === undefined && ticket.refusal === undefined;
    let now = UNREAD;
    let wait = Number.POSITIVE_INFINITY;
    if (!isLive || !admission.isFull(isRetry)) {
      now = this.clock.now();
      wait = isLive ? admission.wait(ticket, isRetry, now) : 0;
    }
    // A listener of the policies' events has paused the gate.
    if (this.isPaused) return 0;
    // The state changed while policies were asked: a request has left, for example the head.
    if (wait !== 0 && this.isStale) return 0;
    if (wait <= 0) {
      const refusal = wait === REFUSED ? admission.refusal(ticket, now) : ticket.refusal;
      this.pass(queue, ticket, now, refusal);
      return 0;
    }
    ticket.rounds += 1;
    this.askedAt = now;
    return this.holdBack(isRetry, wait);
  }

  /** The head of a queue has to wait. @returns the time until the next decision, in ms */
  private holdBack(isRetry: boolean, wait: number): number {
    const { admission } = this;
    const { isHoldShort } = admission;
    this.noteBinding(isRetry);
    if (!isHoldShort) return wait;
    if (this.requests.retries.seek()) return Math.min(wait, this.serve(this.requests.retries));
    admission.policy.idle?.();
    return wait;
  }

  private pass(queue: RequestQueue, ticket: Ticket, now: number, refusal: Error | undefined): void {
    const { owner } = queue;
    const isRetry = queue === this.requests.retries;
    if (ticket.outcome === undefined) {
      if (refusal === undefined) this.admission.charge(ticket, isRetry, now);
      this.waits.ended(ticket, owner, isRetry, now);
    }
    // The owner ended while listeners were called, and has counted this request as cancelled.
    if (owner.gone) return;
    queue.shift();
    owner.queued -= 1;
    this.state = 'draining';
    // Refuse it only now: a request that is refused in the queue counts as cancelled, and its owner
    // has counted it.
    if (refusal !== undefined) ticket.refuse(refusal);
    notifyAdmitted(owner, ticket);
  }

  /** Notes the cause of waits in a queue, and in the other queue behind it. */
  private noteBinding(isRetry: boolean): void {
    const { admission, waits, askedAt } = this;
    const { isHoldShort, binding } = admission;
    waits.note(isRetry, binding, askedAt);
    const isOtherWaiting = (isRetry ? this.requests.first : this.requests.retries).length > 0;
    // Slots and bytes hold back only requests that were never sent.
    if (isHoldShort || !isOtherWaiting) return;
    waits.note(!isRetry, admission.bindingBehind(!isRetry), askedAt);
  }

  /** No request waits. @returns Infinity; 0 if a request arrived meanwhile */
  private becomesIdle(): number {
    const { policy } = this.admission;
    this.timer.cancel();
    // Requests that leave in this turn are still counted, and ask for the cause of their wait.
    if (this.requests.length === 0) this.waits.clear();
    if (policy.idle === undefined) return Number.POSITIVE_INFINITY;
    policy.idle();
    return this.requests.next() === undefined ? Number.POSITIVE_INFINITY : 0;
  }
}
