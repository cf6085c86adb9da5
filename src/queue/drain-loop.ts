import type { Instrumentation } from '../model/instrumentation.ts';
import type { GateKind } from '../model/outcome.ts';
import type { LeaseIssuer, Ticket } from '../model/ticket.ts';
import { type Policy, REFUSED } from '../policies/policy.ts';
import type { Clock } from '../util/clock.ts';
import { Admission } from './admission.ts';
import { notifyAdmitted } from './admission-callback.ts';
import type { GateRules, RequestQueue } from './gate-rules.ts';
import { ResettableTimer } from './resettable-timer.ts';
import type { Refusing } from './suspension.ts';
import { WaitRecorder } from './wait-recorder.ts';
import { headTicket, isCancelled, WaitingRequests } from './waiting-requests.ts';

/** Stands for a time that was not read: only a lease that is given back can help. */
const UNREAD = Number.NaN;

/** The cause of waits at a paused gate. */
const PAUSED = { binding: 'paused' } as const;

/**
 * - `idle`: the gate is at rest;
 * - `deciding`: policies are asked about a request, or listeners are called for it; it stays the
 * head;
 * - `draining`: the loop is between two decisions.
 */
type GateState = 'idle' | 'deciding' | 'draining';

/**
 * The loop of a gate: decides on the requests that wait, most urgent first, until one has to wait on
 * or none is left. Re-entrant calls (a listener that gives a lease back, a request that sends another)
 * are left to the running loop. There is at most one timer, set only while a request waits and time
 * alone can help.
 */
export class DrainLoop<C extends Policy = Policy> implements LeaseIssuer {
  readonly kind: GateKind;
  protected readonly clock: Clock;
  /** The causes of the waits here. */
  readonly waits: WaitRecorder;
  protected readonly admission: Admission<C>;
  protected readonly requests: WaitingRequests;
  protected readonly timer: ResettableTimer;
  protected state: GateState = 'idle';
  /** Refuses all that comes, retries too; undefined: nothing does. */
  private suspension: Refusing | undefined = undefined;
  /**
   * Whether anything changed since the policies answered, so that the answer may be out of date.
   */
  protected isStale = false;
  /** When the policies were asked. */
  protected askedAt = UNREAD;
  /** Whether the gate is paused. A decision that is being made ends first. */
  protected isPaused = false;
  /** What was to be done while a decision was being made; undefined: nothing. */
  private deferred: (() => void)[] | undefined = undefined;

  constructor(
    kind: GateKind,
    policy: C,
    clock: Clock,
    instrumentation: Instrumentation | undefined,
    { hold, newQueue, listener, isShared = false }: GateRules,
  ) {
    this.kind = kind;
    this.clock = clock;
    this.admission = new Admission(policy, hold, clock, this);
    this.waits = new WaitRecorder(kind, clock, instrumentation, listener, isShared);
    this.requests = new WaitingRequests(newQueue);
    this.timer = new ResettableTimer(clock, () => this.drain());
  }

  /** The policy that is asked for each attempt. */
  get policy(): C {
    return this.admission.policy;
  }

  get waiting(): number {
    return this.requests.length;
  }

  /**
   * The cause of the waits of requests that were never sent, or of retries if there are only
   * retries.
   */
  get waitKind(): GateKind {
    return this.waits.kindOf(this.requests.first.length === 0);
  }

  giveBack(charge: unknown, ticket: Ticket): void {
    this.admission.giveBack(charge, ticket);
    // A request that has ended gives its leases back next; then others may pass.
    if (!this.admission.hasHold || ticket.outcome === undefined) this.drain();
  }

  /** Refuses all that comes from now on, for as long as it says so. */
  suspend(refusing: Refusing): void {
    this.suspension = refusing;
  }

  /** The error of all that comes while sending is suspended. */
  protected refusalNow(): Error | undefined {
    if (this.suspension === undefined) return undefined;
    const error = this.suspension.refusal();
    if (error === undefined) this.suspension = undefined;
    return error;
  }

  /** Lets nothing pass until `resume`. Newcomers wait; requests that passed go on. */
  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    if (this.state === 'idle') this.comeToRest();
  }

  /** Ends a pause, and lets all pass that may. */
  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.drain();
  }

  /**
   * Another policy of attempts from now on: those that wait are asked about again. What was charged
   * goes back to the policy that has charged it.
   */
  setPolicy(policy: C): void {
    this.betweenDecisions(() => {
      this.policy.idle?.();
      this.admission.setPolicy(policy);
    });
  }

  /** Does something that a decision must not meet, at once or right after it; then lets pass all that may. */
  protected betweenDecisions(work: () => void): void {
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

  /**
   * Lets all pass that may. Called when a lease was given back, a limit changed, time passed, or a
   * request left. A re-entrant call leaves the work to the running loop.
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
        if (wait === Number.POSITIVE_INFINITY) this.timer.cancel();
        else if (wait > 0) this.timer.set(wait, this.askedAt);
        goesOn = (wait === 0 || this.isStale) && !this.isPaused;
      }
    } finally {
      this.comeToRest();
    }
  }

  /** Sweeps out requests that left, while nothing passes. */
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

  /**
   * Brings the gate to rest. A paused gate has no timer, and leaves shared limits to other gates.
   */
  protected comeToRest(): void {
    this.state = 'idle';
    if (!this.isPaused) return;
    this.timer.cancel();
    const now = this.clock.now();
    this.waits.note(false, PAUSED, now);
    this.waits.note(true, PAUSED, now);
    this.policy.idle?.();
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
    if (wait <= 0) {
      const refusal = wait === REFUSED ? this.refusalOf(ticket, now) : ticket.refusal;
      this.pass(queue, ticket, Number.isNaN(now) ? this.clock.now() : now, refusal);
      return 0;
    }
    // The head left while policies were asked, or there is more to decide.
    if (isCancelled(ticket, queue.owner) || this.isStale) return 0;
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
    this.policy.idle?.();
    return wait;
  }

  private pass(queue: RequestQueue, ticket: Ticket, now: number, refusal: Error | undefined): void {
    const { owner } = queue;
    const isRetry = queue === this.requests.retries;
    if (ticket.outcome === undefined) {
      if (refusal === undefined) this.admission.charge(ticket, isRetry, this, now);
      this.waits.ended(ticket, owner, isRetry, now);
    }
    // The owner ended while listeners were called, and counted this request among those that left.
    if (owner.gone) return;
    queue.shift();
    owner.queued -= 1;
    this.state = 'draining';
    // Not before: a request that was refused in the queue is cancelled there, and already counted.
    if (refusal !== undefined) ticket.refuse(refusal);
    notifyAdmitted(owner, ticket);
  }

  /** Notes the cause of waits in a queue, and in the other queue behind it. */
  protected noteBinding(isRetry: boolean): void {
    const { admission, waits, askedAt } = this;
    const { isHoldShort, binding } = admission;
    waits.note(isRetry, binding, askedAt);
    const isOtherWaiting = (isRetry ? this.requests.first : this.requests.retries).length > 0;
    // Slots and bytes hold back only requests that were never sent.
    if (isHoldShort || !isOtherWaiting) return;
    waits.note(!isRetry, admission.bindingBehind(!isRetry), askedAt);
  }

  /** @returns 0 if a request arrived meanwhile */
  protected becomesIdle(): number {
    this.timer.cancel();
    this.waits.clear();
    if (this.policy.idle === undefined) return Number.POSITIVE_INFINITY;
    this.policy.idle();
    return this.requests.next() === undefined ? Number.POSITIVE_INFINITY : 0;
  }

  /** The error of a request that no policy lets wait. A suspension is the cause before any of them. */
  protected refusalOf(ticket: Ticket, now: number): Error | undefined {
    return this.refusalNow() ?? this.admission.refusal(ticket, now);
  }
}
