import type { Verdict } from '../model/feedback.ts';
import { Tap } from '../model/inspection.ts';
import { type Instrumentation, needsArrival } from '../model/instrumentation.ts';
import type { GateKind } from '../model/outcome.ts';
import { ARRIVING, isTicket, type LeaseIssuer, type Ticket } from '../model/ticket.ts';
import type { Policy } from '../policies/policy.ts';
import type { Clock } from '../util/clock.ts';
import { Admission } from './admission.ts';
import { clearQueue } from './clear-queue.ts';
import { type Decision, DrainLoop } from './drain-loop.ts';
import type { AdmissionCheck, GateRules, GateSnapshot, Refusing } from './gate-rules.ts';
import { makeRoom } from './make-room.ts';
import type { QueueCapacity, WaitTimeouts } from './queue-rules.ts';
import { WaitRecorder } from './wait-recorder.ts';
import {
  type AdmissionCallback,
  type Newcomer,
  notifyAdmitted,
  WaitingRequests,
} from './waiting-requests.ts';

/**
 * The place where requests wait until every policy admits them: one queue, one decision, and all
 * policies charge a request at once. Waiting requests hold nothing here, except that a retry keeps
 * its slot and bytes. Order: by priority, if the queue has one; then retries; then arrival. A
 * newcomer never overtakes a waiter of its own priority.
 *
 * If the most urgent request waits for a slot or bytes, the gate decides on the most urgent retry
 * instead: it holds both, and the other request may be waiting for its end.
 *
 * Everything that a request takes is reserved before any callback runs. In this class requests
 * arrive, leave and are cleared; {@link DrainLoop} decides which of them pass.
 */
export class Gate<C extends Policy = Policy> implements LeaseIssuer {
  readonly kind: GateKind;
  /** The place where an inspector observes the requests of this gate. */
  readonly tap = new Tap();
  /** The causes of the waits here. */
  readonly waits: WaitRecorder;
  private readonly clock: Clock;
  private readonly instrumentation: Instrumentation | undefined;
  private readonly admission: Admission<C>;
  private readonly requests: WaitingRequests;
  private readonly loop: DrainLoop;
  /** The rules in fields: V8 is slow to read objects of many shapes. */
  private readonly capacity: QueueCapacity | undefined;
  private readonly timeouts: WaitTimeouts | undefined;
  private readonly check: AdmissionCheck | undefined;

  constructor(
    kind: GateKind,
    policy: C,
    clock: Clock,
    instrumentation?: Instrumentation,
    rules: GateRules = {},
  ) {
    const { hold, newQueue, listener, isShared = false } = rules;
    this.kind = kind;
    this.clock = clock;
    this.instrumentation = instrumentation;
    this.waits = new WaitRecorder(kind, clock, instrumentation, listener, isShared);
    this.admission = new Admission(policy, hold, clock, this);
    this.requests = new WaitingRequests(newQueue);
    this.loop = new DrainLoop(this.admission, this.requests, this.waits, clock);
    this.capacity = rules.capacity;
    this.timeouts = rules.timeouts;
    this.check = rules.check;
  }

  /** The policy that is asked for each attempt. */
  get policy(): C {
    return this.admission.policy;
  }

  get waiting(): number {
    return this.requests.length;
  }

  /** Whether one more request may wait. */
  get hasRoom(): boolean {
    return this.capacity === undefined || this.waiting < this.capacity.bound.maxQueue;
  }

  get isPaused(): boolean {
    return this.loop.isPaused;
  }

  /** How many requests wait, by cause. */
  get waitingByKind(): readonly (readonly [gate: GateKind, requests: number])[] {
    const { first, retries } = this.requests;
    return [
      [this.waits.kindOf(false), first.length],
      [this.waits.kindOf(true), retries.length],
    ];
  }

  /**
   * The cause of the waits of requests that were never sent, or of retries if there are only
   * retries.
   */
  get waitKind(): GateKind {
    return this.waits.kindOf(this.requests.areRetries);
  }

  /** The cause of the wait of the next request: of a retry, if one waits. */
  get nextWaitKind(): GateKind {
    return this.waits.kindOf(this.requests.retries.length > 0);
  }

  /** Whether a call that arrives now needs its ticket at once: its wait is observed or bounded. */
  get needsTicketOfCall(): boolean {
    return this.instrumentation !== undefined || this.isWaitBounded;
  }

  /**
   * Whether the request of a stream that arrives now needs its ticket at once.
   * @param asked the instrumentation that was asked already whether it needs the arrival
   */
  needsTicketOfStream(asked: Instrumentation | undefined): boolean {
    const { instrumentation } = this;
    return this.isWaitBounded || (instrumentation !== asked && needsArrival(instrumentation));
  }

  private get isWaitBounded(): boolean {
    return this.timeouts?.isOn === true || this.capacity?.isBounded === true;
  }

  snapshot(): GateSnapshot & ReturnType<C['snapshot']> {
    const now = this.clock.now();
    const longestWaitMs = this.requests.longestWaitMs(now, this.loop.isDeciding);
    const leftMs = this.loop.nextAt - now;
    const isTimed = this.waiting > 0 && leftMs < Number.POSITIVE_INFINITY;
    const nextInMs = isTimed ? Math.max(0, leftMs) : undefined;
    const policy = this.policy.snapshot(now) as ReturnType<C['snapshot']>;
    return { waiting: this.waiting, longestWaitMs, nextInMs, ...policy };
  }

  /**
   * Admits a request that has its ticket already.
   * @param at the time, if the clock was just read; NaN: it was not
   * @returns true if it passed or was refused. False: `owner` is called for that, now or before
   */
  enter(ticket: Ticket, owner: AdmissionCallback, at = ticket.readAt): boolean {
    if (this.isTurnedAway(ticket)) return true;
    // Reading the clock is slow: the gate that let the ticket pass in this turn has just read it.
    const now = Number.isNaN(at) ? this.clock.now() : at;
    return this.arrive(ticket, owner, now);
  }

  /**
   * Admits a request that does not wait. @returns whether it passed; if not, nothing has changed
   */
  tryEnter(ticket: Ticket): boolean {
    return !this.isTurnedAway(ticket) && this.loop.admitsAtOnce(ticket);
  }

  /**
   * Admits a request that gets its ticket when its turn comes. Until then it costs no more than its
   * place in the queue.
   * @param reply what the owner needs beside the item to make the ticket, if anything
   * @returns the ticket if the request passed. Undefined: `owner` is called for that, now or before
   */
  enterLater(item: unknown, owner: AdmissionCallback, reply?: unknown): Ticket | undefined {
    const now = this.clock.now();
    const error = this.admission.refusalNow() ?? this.check?.turnsAway(owner);
    if (error === undefined && !this.loop.isFree()) {
      this.wait(item, owner, now, reply, 'behind');
      return undefined;
    }
    const ticket = owner.ticketOf?.(item, now, reply);
    if (error !== undefined) ticket?.refuse(error);
    if (ticket === undefined || ticket.refusal !== undefined) return ticket;
    // Making the ticket calls the user's estimator, which may have sent other requests meanwhile.
    return this.arrive(ticket, owner, now) ? ticket : undefined;
  }

  giveBack(charge: unknown, ticket: Ticket): void {
    this.admission.giveBack(charge, ticket);
    // If the request has ended, its other leases are given back next; then other requests may pass.
    if (!this.admission.hasHold || ticket.outcome === undefined) this.loop.drain();
  }

  begun(charge: unknown, verdict: Verdict): void {
    this.admission.begun(charge, verdict);
    this.loop.drain();
  }

  /**
   * Lets all requests pass that may: a limit has changed, or another gate has given back a lease.
   */
  drain(): void {
    this.loop.drain();
  }

  /**
   * Shows the waiting requests of an owner, without moving a head.
   * @param show gets each item, since when it waits, and the reply that came with it
   */
  eachOf(
    owner: AdmissionCallback,
    show: (item: unknown, since: number, reply: unknown) => void,
  ): void {
    this.requests.queueOf(owner).each((item, its, since, reply) => {
      if (its === owner) show(item, since, reply);
    });
  }

  /** The owner has just ended, and with it all its requests in the queue. */
  left(owner: AdmissionCallback): void {
    const count = owner.queued;
    if (count === 0) return;
    owner.queued = 0;
    this.requests.queueOf(owner).markCancelled(count);
    this.loop.drain();
  }

  /** Ends the wait of one request that was never sent, without a charge. */
  expel(ticket: Ticket, owner: AdmissionCallback, error: Error): void {
    // Refuse it first, so that it cannot pass, whatever listeners of its wait do.
    ticket.refuse(error);
    this.waits.noteExit(ticket, owner);
    this.requests.first.markCancelled(1);
    owner.queued -= 1;
    this.waits.ended(ticket, owner, false, this.clock.now());
    // Call the owner before other requests pass: these could make this one leave again.
    notifyAdmitted(owner, ticket);
    this.loop.drain();
  }

  /**
   * Books the wait of a retry that gives up. Its owner has ended, but `left` was not called yet.
   */
  bookExit(ticket: Ticket, owner: AdmissionCallback): void {
    this.waits.noteExit(ticket, owner);
    this.waits.ended(ticket, owner, owner.isRetry === true, this.clock.now());
  }

  /**
   * Takes back the leases that a request holds over all attempts: it waits again, behind requests
   * that wait now.
   */
  takeHoldBack(ticket: Ticket): void {
    this.admission.takeHoldBack(ticket);
  }

  /**
   * Ends the wait of all waiting requests with this error, once each. If it is called during a
   * decision, it acts right after that.
   */
  clear(error: Error): void {
    this.clearThose(() => error);
  }

  /**
   * Ends the wait of each request for which `errorOf` returns an error; the others keep their
   * places.
   * @param errorOf called for each waiting request when this acts; must not throw
   */
  clearThose(errorOf: (waiter: Newcomer, now: number) => Error | undefined): void {
    if (this.waiting === 0) return;
    this.loop.betweenDecisions(() => {
      const now = this.clock.now();
      clearQueue(this.loop, (waiter) => errorOf(waiter, now), now);
    });
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
    const isRetry = (ticket: Ticket) => ticket.attempts > 0 && !this.admission.isAnew(ticket);
    this.loop.betweenDecisions(() => this.requests.setPriority(requests, priority, isRetry));
  }

  /**
   * Replaces the policy of attempts, and asks it about the waiting requests. Earlier charges are
   * given back to the policy that has charged them.
   */
  setPolicy(policy: C): void {
    this.loop.betweenDecisions(() => {
      this.policy.idle?.();
      this.admission.policy = policy;
    });
  }

  /** Lets no request pass until `resume`. Newcomers wait; requests that passed go on. */
  pause(): void {
    this.loop.pause();
  }

  /** Ends a pause, and lets all requests pass that may. */
  resume(): void {
    this.loop.resume();
  }

  /** Refuses all requests that arrive from now on, for as long as `refusal` returns an error. */
  suspend(refusing: Refusing): void {
    this.admission.suspend(refusing);
  }

  /**
   * Whether a request is refused now. A newcomer is checked before it waits. A refused request
   * passes the gate without a charge.
   */
  private isTurnedAway(ticket: Ticket): boolean {
    const check = ticket.attempts === 0 ? this.check : undefined;
    const error = this.admission.refusalNow() ?? check?.turnsAway(ticket);
    if (error !== undefined) ticket.refuse(error);
    return ticket.refusal !== undefined;
  }

  /** @returns whether a newcomer passed or was refused. False: it waits, or its owner has ended */
  private arrive(ticket: Ticket, owner: AdmissionCallback, now: number): boolean {
    const { capacity, loop } = this;
    let decision = loop.decide(ticket, owner, now);
    if (decision !== 'passed' && capacity?.isBounded && ticket.attempts === 0) {
      decision = makeRoom(ticket, owner, capacity, loop, now) ?? decision;
    }
    if (decision === 'passed') return true;
    this.wait(ticket, owner, now, undefined, decision);
    return false;
  }

  /**
   * Puts a newcomer into its queue, unless its owner has ended. If it is next, and was not decided
   * on, the gate decides on it then.
   */
  private wait(
    item: unknown,
    owner: AdmissionCallback,
    now: number,
    reply: unknown,
    decision: Decision,
  ): void {
    const { loop, waits } = this;
    if (owner.gone) {
      if (decision === 'held') loop.restIfEmpty();
      return;
    }
    const ticket = isTicket(item) ? item : undefined;
    const queue = this.requests.queueOf(owner);
    // A retry counts from the arrival of its request, so it goes before requests that came later.
    const since = owner.isRetry && ticket !== undefined ? ticket.arrivedAt : now;
    const isNext = queue.push(item, owner, since, reply) || queue.length === 1;
    owner.queued += 1;
    if (ticket !== undefined) ticket.waitsSince = ARRIVING;
    if (isNext && decision === 'behind') loop.drain();
    if (waits.isHeard() && queue.length > 0) {
      waits.began(owner, isNext ? 1 : this.waiting, this.waiting, loop.nextAt);
    }
    // It may have passed meanwhile; then its owner was called.
    if (ticket?.isQueued) this.waitBegan(ticket, owner, now);
  }

  /** A newcomer waits. */
  private waitBegan(ticket: Ticket, owner: AdmissionCallback, now: number): void {
    if (ticket.outcome !== undefined) return;
    ticket.waitsSince = now;
    // The decision at its arrival is the first of its rounds.
    ticket.rounds = 0;
    if (ticket.attempts === 0) this.timeouts?.wait(ticket, this, owner, now);
    this.loop.reportQueued(ticket, owner);
  }
}
