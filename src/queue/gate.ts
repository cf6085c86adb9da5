import type { Instrumentation } from '../model/instrumentation.ts';
import type { GateKind } from '../model/outcome.ts';
import { Tap } from '../model/tap.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { type Policy, REFUSED } from '../policies/policy.ts';
import type { Clock } from '../util/clock.ts';
import { type AdmissionCallback, notifyAdmitted } from './admission-callback.ts';
import { DrainLoop } from './drain-loop.ts';
import type {
  AdmissionCheck,
  GateRules,
  GateSnapshot,
  Newcomer,
  RequestQueue,
  WaitListener,
} from './gate-rules.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import type { WaitTimeouts } from './wait-timeouts.ts';

/**
 * The place where requests wait until every policy lets them go: one queue, one decision, and all
 * policies charge a request at once. Those that wait hold nothing here, except that a retry keeps its
 * slot and bytes. Order: by priority, if the queue has one; then retries; then arrival. A newcomer
 * never overtakes a waiter of its own priority.
 *
 * If the most urgent request waits for a slot or bytes, the gate decides on the most urgent retry
 * instead: it holds both, and the other request may be waiting for its end.
 *
 * Everything that a request takes is reserved before any callback runs. Here requests come, leave and
 * are cleared; {@link DrainLoop} decides on those that wait.
 */
export class Gate<C extends Policy = Policy> extends DrainLoop<C> {
  /** Where an inspector follows its requests. */
  readonly tap = new Tap();
  private readonly instrumentation: Instrumentation | undefined;
  /** The rules in fields: V8 is slow to read objects of many shapes. */
  private readonly capacity: QueueCapacity | undefined;
  private readonly timeouts: WaitTimeouts | undefined;
  private readonly check: AdmissionCheck | undefined;
  private readonly listener: WaitListener | undefined;

  constructor(
    kind: GateKind,
    policy: C,
    clock: Clock,
    instrumentation?: Instrumentation,
    rules: GateRules = {},
  ) {
    super(kind, policy, clock, instrumentation, rules);
    this.instrumentation = instrumentation;
    this.capacity = rules.capacity;
    this.timeouts = rules.timeouts;
    this.check = rules.check;
    this.listener = rules.listener;
  }

  /** How many requests wait, by cause. */
  get waitingByKind(): readonly (readonly [gate: GateKind, requests: number])[] {
    const { first, retries } = this.requests;
    return [
      [this.waits.kindOf(false), first.length],
      [this.waits.kindOf(true), retries.length],
    ];
  }

  /** Whether each request needs its ticket at once, because its wait is observed or bounded. */
  get needsTickets(): boolean {
    const { timeouts, capacity } = this;
    return (
      this.instrumentation !== undefined || timeouts?.isOn === true || capacity?.isBounded === true
    );
  }

  snapshot(): GateSnapshot & ReturnType<C['snapshot']> {
    const now = this.clock.now();
    const longestWaitMs = this.requests.longestWaitMs(now, this.state === 'deciding');
    const leftMs = this.timer.at - now;
    const isTimed = this.waiting > 0 && leftMs < Number.POSITIVE_INFINITY;
    const nextInMs = isTimed ? Math.max(0, leftMs) : undefined;
    const policy = this.policy.snapshot(now) as ReturnType<C['snapshot']>;
    return { waiting: this.waiting, longestWaitMs, nextInMs, ...policy };
  }

  /**
   * Admits a request that has its ticket already.
   * @param at the time, where the clock was just read; NaN: it was not
   * @returns true if it passed or was refused. False: `owner` is called for that, now or before
   */
  enter(ticket: Ticket, owner: AdmissionCallback, at = ticket.readAt): boolean {
    if (this.isTurnedAway(ticket)) return true;
    // Reading the clock is slow: the gate that let the ticket pass in this turn has just read it.
    const now = Number.isNaN(at) ? this.clock.now() : at;
    const isFree = this.isFree();
    if (isFree && this.tryNewcomer(ticket, owner, now)) return true;
    return this.wait(ticket, owner, now, undefined, isFree) !== undefined;
  }

  /**
   * The same for a request that does not wait. @returns whether it passed; if not, nothing happens
   */
  tryEnter(ticket: Ticket): boolean {
    if (this.isTurnedAway(ticket) || !this.isFree()) return false;
    const now = this.clock.now();
    const wait = this.askNewcomer(ticket, false, now);
    if (wait === 0) this.admission.charge(ticket, false, this, now);
    else if (wait === REFUSED) this.refuse(ticket, now);
    this.leaveTo(now);
    return wait === 0;
  }

  /**
   * Admits a request that gets its ticket when its turn comes. Until then it costs no more than its
   * place in the queue.
   * @param reply what the owner needs beside the item to make the ticket, if anything
   * @returns the ticket if the request passed. Undefined: `owner` is called for that, now or before
   */
  enterLater(item: unknown, owner: AdmissionCallback, reply?: unknown): Ticket | undefined {
    const now = this.clock.now();
    const error = this.refusalNow() ?? this.check?.turnsAway(owner);
    if (error === undefined && !this.isFree()) return this.wait(item, owner, now, reply, false);
    const ticket = owner.ticketOf?.(item, now, reply);
    if (error !== undefined) ticket?.refuse(error);
    if (ticket === undefined || ticket.refusal !== undefined) return ticket;
    // Making the ticket calls the user's estimator, which may have sent other requests meanwhile.
    const isFree = this.isFree();
    if (isFree && this.tryNewcomer(ticket, owner, now)) return ticket;
    return this.wait(ticket, owner, now, undefined, isFree);
  }

  /** The owner has just ended, and with it all its requests in the queue. */
  left(owner: AdmissionCallback): void {
    const count = owner.queued;
    if (count === 0) return;
    owner.queued = 0;
    this.requests.queueOf(owner).markCancelled(count);
    this.drain();
  }

  /** Ends the wait of one request that was never sent, without a charge. */
  expel(ticket: Ticket, owner: AdmissionCallback, error: Error): void {
    // First, so that it cannot pass any more, whatever the listeners of its wait do.
    ticket.refuse(error);
    this.waits.givesUp(ticket, owner);
    this.requests.first.markCancelled(1);
    owner.queued -= 1;
    this.waits.ended(ticket, owner, false, this.clock.now());
    // Before others pass: these could make it leave again.
    notifyAdmitted(owner, ticket);
    this.drain();
  }

  /**
   * Books the wait of a retry that gives up. Its owner has ended, but `leave` was not called yet.
   */
  gaveUp(ticket: Ticket, owner: AdmissionCallback): void {
    this.waits.givesUp(ticket, owner);
    this.waits.ended(ticket, owner, true, this.clock.now());
  }

  /**
   * Ends the wait of all waiting requests with this error, once each. If it is called during a
   * decision, it acts right after that.
   */
  clear(error: Error): void {
    this.clearThose(() => error);
  }

  /**
   * The same for those that wait for whom there is an error; the others keep their places.
   * @param errorOf is asked when it acts, of each with the time; must not throw
   */
  clearThose(errorOf: (waiter: Newcomer, now: number) => Error | undefined): void {
    if (this.waiting === 0) return;
    this.betweenDecisions(() => this.clearNow(errorOf));
  }

  /**
   * Gives requests another priority. Those that wait here keep their time of arrival, and the most
   * urgent request is decided on again; for the others the priority counts when they wait again.
   *
   * @param requests each with its order among requests that arrived at the same time
   */
  setPriority(
    requests: readonly { readonly ticket: Ticket; readonly order: number }[],
    priority: number,
  ): void {
    this.betweenDecisions(() => this.requests.setPriority(requests, priority));
  }

  /**
   * All are refused and taken out before their owners are called, so that new requests of these
   * wait behind.
   */
  private clearNow(errorOf: (waiter: Newcomer, now: number) => Error | undefined): void {
    const now = this.clock.now();
    const cleared: [ticket: Ticket, owner: AdmissionCallback, isRetry: boolean][] = [];
    this.state = 'deciding';
    this.requests.takeOut(
      (waiter) => errorOf(waiter, now),
      (ticket, owner, error, isRetry) => {
        this.waits.givesUp(ticket, owner);
        ticket.refuse(error);
        cleared.push([ticket, owner, isRetry]);
      },
    );
    this.state = 'draining';
    for (const [ticket, owner, isRetry] of cleared) {
      if (ticket.outcome === undefined) this.waits.ended(ticket, owner, isRetry, now);
      if (!owner.gone) notifyAdmitted(owner, ticket);
    }
  }

  /** A refused request passes without a charge; a newcomer may be refused before it waits. */
  private isTurnedAway(ticket: Ticket): boolean {
    const suspended = this.refusalNow();
    if (suspended !== undefined) ticket.refuse(suspended);
    const { check } = this;
    if (check !== undefined && ticket.attempts === 0) {
      const error = check.turnsAway(ticket);
      if (error !== undefined) ticket.refuse(error);
    }
    return ticket.refusal !== undefined;
  }

  /**
   * Whether no request is before a newcomer. A method: V8 calls a private getter through its
   * runtime.
   */
  private isFree(): boolean {
    return this.state === 'idle' && !this.isPaused && this.requests.isEmpty();
  }

  /** Decides on a newcomer, and again if anything changed meanwhile. @returns as `Policy.wait` */
  private askNewcomer(ticket: Ticket, isRetry: boolean, now: number): number {
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

  /** Lets a newcomer pass that is first, if it may. @returns whether it passed or was refused */
  private tryNewcomer(ticket: Ticket, owner: AdmissionCallback, now: number): boolean {
    const isRetry = owner.isRetry === true;
    const wait = this.askNewcomer(ticket, isRetry, now);
    if (wait > 0) {
      if (this.isPaused) return false;
      this.askedAt = now;
      this.noteBinding(isRetry);
      // Requests that arrived while policies were asked are before this one, and not decided on
      // yet.
      this.timer.set(this.waiting === 0 ? wait : 0, now);
      return false;
    }
    if (wait === REFUSED) this.refuse(ticket, now);
    else this.admission.charge(ticket, isRetry, this, now);
    this.waits.ended(ticket, owner, isRetry, now);
    this.leaveTo(now);
    return true;
  }

  /** Ends the decision on a newcomer. Requests that arrived meanwhile are not decided on yet. */
  private leaveTo(now: number): void {
    if (this.isPaused) return;
    if (this.waiting > 0) this.timer.set(0, now);
    else this.becomesIdle();
  }

  /** @returns its ticket, if it was refused, or may pass because others had to go */
  private wait(
    item: unknown,
    owner: AdmissionCallback,
    now: number,
    reply: unknown,
    wasAsked: boolean,
  ): Ticket | undefined {
    const queue = this.requests.queueOf(owner);
    const ticket = isTicket(item) ? item : undefined;
    let isAsked = wasAsked;
    const { capacity } = this;
    if (ticket !== undefined && capacity?.isBounded && ticket.attempts === 0) {
      const { dropped } = capacity;
      const isBusy = this.state === 'deciding';
      if (!this.makeRoom(capacity, ticket, owner, queue, isBusy)) {
        if (this.waiting === 0 && !this.isPaused) this.becomesIdle();
        return ticket;
      }
      if (capacity.dropped !== dropped) {
        // The head has gone: the next request may need less, and so may the newcomer.
        this.drain();
        isAsked = this.isFree();
        if (isAsked && this.tryNewcomer(ticket, owner, now)) return ticket;
      }
    }
    if (owner.gone) {
      // The decision on it has set the timer, and nothing waits for that.
      if (isAsked && this.waiting === 0 && !this.isPaused) this.becomesIdle();
      return undefined;
    }
    // Retries are ordered by their arrival at the limiter, not at this queue.
    const since = queue === this.requests.first ? now : (ticket?.arrivedAt ?? now);
    const isNext = queue.push(item, owner, since, reply) || queue.length === 1;
    owner.queued += 1;
    if (ticket !== undefined) ticket.waitsSince = Number.NEGATIVE_INFINITY;
    if (isNext && !isAsked) this.drain();
    const { listener } = this;
    if (listener?.isHeard() && queue.length > 0) this.tellStart(listener, owner, isNext);
    // NaN: it has passed meanwhile, and its owner was called.
    if (ticket !== undefined && !Number.isNaN(ticket.waitsSince)) this.settleIn(ticket, owner, now);
    return undefined;
  }

  /** @returns as `QueueCapacity.makeRoom` */
  private makeRoom(
    capacity: QueueCapacity,
    ticket: Ticket,
    owner: AdmissionCallback,
    queue: RequestQueue,
    isBusy: boolean,
  ): boolean {
    const isTold = this.waits.instrumentationOf(owner) !== undefined;
    const { waitKind } = this;
    return capacity.makeRoom(ticket, owner, queue, () => this.waiting, isBusy, waitKind, isTold);
  }

  /** Tells the beginning of a wait. */
  private tellStart(listener: WaitListener, owner: AdmissionCallback, isNext: boolean): void {
    const { waits, waiting, timer } = this;
    const isRetry = owner.isRetry === true;
    listener.waits({
      gate: waits.kindOf(isRetry),
      limit: waits.limitOf(isRetry),
      position: isNext ? 1 : waiting,
      waiting,
      untilAt: timer.at < Number.POSITIVE_INFINITY ? timer.at : undefined,
    });
  }

  /** A newcomer waits. */
  private settleIn(ticket: Ticket, owner: AdmissionCallback, now: number): void {
    if (ticket.outcome !== undefined) return;
    ticket.waitsSince = now;
    // The wait at its arrival is the first of its rounds.
    ticket.rounds = 0;
    const isRetry = owner.isRetry === true;
    if (!isRetry) this.timeouts?.wait(ticket, this, owner);
    const instrumentation = this.waits.instrumentationOf(owner);
    if (instrumentation !== undefined) this.tellQueued(ticket, isRetry, instrumentation);
  }

  /** Listeners learn that it waits; meanwhile it neither passes nor is given up. */
  private tellQueued(ticket: Ticket, isRetry: boolean, instrumentation: Instrumentation): void {
    const { state, waiting } = this;
    const wasStale = this.isStale;
    if (state !== 'deciding') this.requests.next();
    this.state = 'deciding';
    this.isStale = false;
    instrumentation.queued?.(ticket, this.waits.kindOf(isRetry));
    this.state = state;
    if (state === 'idle') this.comeToRest();
    if (this.isStale || this.waiting !== waiting) this.drain();
    // An earlier request may be under decision: it is decided on again.
    this.isStale ||= wasStale;
  }

  private refuse(ticket: Ticket, now: number): void {
    const error = this.refusalOf(ticket, now);
    if (error !== undefined) ticket.refuse(error);
  }
}
