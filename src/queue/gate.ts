import { type Core, REFUSED } from '../core/core.ts';
import type { Clock } from '../model/clock.ts';
import { uniteProbes } from '../model/join-probes.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Probe } from '../model/probe.ts';
import { Tap } from '../model/tap.ts';
import type { LeaseIssuer } from '../model/ticket.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { Admission } from './admission.ts';
import type { AdmissionCallback } from './admission-callback.ts';
import { Fifo } from './fifo.ts';
import type { GateRules, GateSnapshot, RequestQueue, WaitListener } from './gate-rules.ts';
import { notifyAdmitted, reportLater } from './notify.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import { ResettableTimer } from './resettable-timer.ts';
import { WaitRecorder } from './wait-recorder.ts';

const NO_RULES: GateRules = {};

/** No clock was read: nothing but what is given back can help. */
const UNREAD = Number.NaN;

/** What binds at a gate that is paused. */
const PAUSED = { binding: 'paused' } as const;

/**
 * - `idle`: nothing is being done;
 * - `deciding`: policies are asked about a request, or others are told of it: it stays the head;
 * - `draining`: between two decisions;
 * - `paused`: nothing is being done, and nothing passes until `resume`.
 */
type GateState = 'idle' | 'deciding' | 'draining' | 'paused';

/**
 * The place where requests wait until every policy lets them go: one queue, one decision, and all
 * policies charge a request at once. Those that wait hold nothing here, except that a retry keeps its
 * slot and bytes. Order: by priority, if the queue has one; then retries; then arrival. A newcomer
 * never overtakes a waiter of its own priority.
 *
 * Where the most urgent request waits for a slot or bytes, the most urgent retry is asked about
 * instead: it holds both, and may be the one whose end the other waits for.
 *
 * What a request takes is reserved before anyone is told. Work that comes back from within (a listener
 * that gives something back, a request that sends another) is left to the loop. One timer at the
 * most, armed only while a request waits and time alone can help.
 */
export class Gate<C extends Core = Core> implements LeaseIssuer {
  readonly kind: GateKind;
  /** Where an inspector follows its requests. */
  readonly tap = new Tap();
  private readonly clock: Clock;
  private readonly probe: Probe | undefined;
  private readonly rules: GateRules;
  private readonly admission: Admission<C>;
  private readonly waits: WaitRecorder;
  /** Those that were never sent, and those that were. */
  private readonly first: RequestQueue;
  private readonly retries: RequestQueue;
  private readonly timer: ResettableTimer;
  private state: GateState = 'idle';
  /** Something has changed since policies were asked: their answer may be out of date. */
  private isStale = false;
  /** When they were asked. */
  private askedAt = UNREAD;
  /** Nothing passes. Where something is being done, that ends first. */
  private isPaused = false;
  /** The error of a `clear` that came while something was being done. */
  private clearing: Error | undefined = undefined;

  constructor(kind: GateKind, core: C, clock: Clock, probe?: Probe, rules: GateRules = NO_RULES) {
    this.kind = kind;
    this.clock = clock;
    this.probe = probe;
    this.rules = rules;
    this.admission = new Admission(core, rules.hold, clock, () => this.drain());
    this.waits = new WaitRecorder(kind, rules.listener);
    const { newQueue = (isDead) => new Fifo(isDead) } = rules;
    this.first = newQueue(isCancelled);
    this.retries = newQueue(isCancelled);
    this.timer = new ResettableTimer(clock, () => this.drain());
  }

  /** The policy of attempts. */
  get core(): C {
    return this.admission.core;
  }

  get waiting(): number {
    return this.first.length + this.retries.length;
  }

  /** What the requests in the queue wait for: those that were never sent, if there are any. */
  get waitKind(): GateKind {
    return this.waits.kindOf(this.first.length === 0);
  }

  /** How many wait for what. */
  get waitingByKind(): readonly (readonly [gate: GateKind, requests: number])[] {
    return [
      [this.waits.kindOf(false), this.first.length],
      [this.waits.kindOf(true), this.retries.length],
    ];
  }

  /** Whether each request needs its ticket at once, since its wait is watched or bounded. */
  get needsTickets(): boolean {
    const { timeouts, capacity } = this.rules;
    return this.probe !== undefined || timeouts?.isOn === true || capacity?.isBounded === true;
  }

  snapshot(): GateSnapshot & ReturnType<C['snapshot']> {
    const now = this.clock.now();
    const waitOf = (queue: RequestQueue) => {
      const isWaiting = this.state === 'deciding' ? queue.length > 0 : queue.seek();
      return isWaiting ? Math.max(0, now - sinceOf(queue)) : 0;
    };
    const longestWaitMs = Math.max(waitOf(this.first), waitOf(this.retries));
    const leftMs = this.timer.at - now;
    const isTimed = this.waiting > 0 && leftMs < Number.POSITIVE_INFINITY;
    const nextInMs = isTimed ? Math.max(0, leftMs) : undefined;
    const core = this.core.snapshot(now) as ReturnType<C['snapshot']>;
    return { waiting: this.waiting, longestWaitMs, nextInMs, ...core };
  }

  /**
   * A request that has its ticket already.
   * @returns true: it has passed, or was refused. False: `owner` is told of that, or was told already.
   */
  enter(ticket: Ticket, owner: AdmissionCallback): boolean {
    if (this.isTurnedAway(ticket)) return true;
    // Clocks are slow: who let the ticket pass in this turn has just read it.
    const now = Number.isNaN(ticket.readAt) ? this.clock.now() : ticket.readAt;
    const isFree = this.isFree();
    if (isFree && this.tryNewcomer(ticket, owner, now)) return true;
    return this.wait(ticket, owner, now, undefined, isFree) !== undefined;
  }

  /** The same for one that will not wait. @returns whether it has passed; if not, nothing is done */
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
   * A request that gets its ticket when its turn comes: until then it costs no more than its place
   * in the queue.
   * @param reply what the owner needs beside the item to make the ticket, if it does
   * @returns the ticket, if the request has passed. Undefined: `owner` is told of that, or was already
   */
  enterLater(item: unknown, owner: AdmissionCallback, reply?: unknown): Ticket | undefined {
    const now = this.clock.now();
    const error = this.rules.check?.turnsAway();
    if (error === undefined && !this.isFree()) return this.wait(item, owner, now, reply, false);
    const ticket = owner.ticketOf?.(item, now, reply);
    if (error !== undefined) ticket?.refuse(error);
    if (ticket === undefined || ticket.refusal !== undefined) return ticket;
    // Making the ticket calls the user's estimator, which may have sent others here meanwhile.
    const isFree = this.isFree();
    if (isFree && this.tryNewcomer(ticket, owner, now)) return ticket;
    return this.wait(ticket, owner, now, undefined, isFree);
  }

  giveBack(charge: unknown, ticket: Ticket): void {
    this.core.giveBack(charge, ticket, this.clock);
    // What a request that has ended holds comes back next: then others may pass.
    if (!this.admission.hasHold || ticket.outcome === undefined) this.drain();
  }

  /** The owner has just gone, with all that it has in the queue. */
  left(owner: AdmissionCallback): void {
    const count = owner.queued;
    if (count === 0) return;
    owner.queued = 0;
    this.queueOf(owner).bury(count);
    this.drain();
  }

  /** Ends the wait of one request that was never sent, for nothing. */
  expel(ticket: Ticket, owner: AdmissionCallback, error: Error): void {
    // First, so that it cannot pass any more, whatever they do who are told of its wait.
    ticket.refuse(error);
    this.givesUp(ticket, owner);
    this.first.bury(1);
    owner.queued -= 1;
    this.waits.ended(ticket, false, this.clock.now(), this.probeOf(owner));
    // Before others pass, who may make it leave: it has left already.
    notifyAdmitted(owner, ticket);
    this.drain();
  }

  /** A request that waits, or finds no place to wait, is given up: tells what for. Nothing is told of others. */
  givesUp(ticket: Ticket, owner: AdmissionCallback): void {
    if (this.probeOf(owner) === undefined || ticket.outcome !== undefined) return;
    ticket.gaveUpAt = this.waits.kindOf(owner.isRetry === true);
  }

  /** Books what a retry has waited that gives up; its owner is gone already, and has not left yet. */
  gaveUp(ticket: Ticket, owner: AdmissionCallback): void {
    this.givesUp(ticket, owner);
    this.waits.ended(ticket, true, this.clock.now(), this.probeOf(owner));
  }

  /** Lets nothing pass until `resume`. Newcomers wait; those that have passed go on. */
  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    if (this.state === 'idle') this.comeToRest();
  }

  /** Lets pass again all that may. */
  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.state === 'paused') this.state = 'idle';
    this.drain();
  }

  /**
   * Ends the wait of all that wait now, with this error, once each. Called while a decision is being
   * made, it does so right after that.
   */
  clear(error: Error): void {
    if (this.waiting === 0) return;
    if (this.state === 'idle' || this.state === 'paused') {
      this.clearNow(error);
      this.comeToRest();
      this.drain();
      return;
    }
    this.clearing ??= error;
    this.isStale = true;
    // A decision on a newcomer is not followed by another.
    queueMicrotask(() => this.drain());
  }

  /**
   * Lets pass all that may. Called when something was given back, a limit was changed, time has
   * passed, or a request left. Called from within itself, it leaves the work to the loop.
   */
  drain(): void {
    if (this.state !== 'idle') {
      if (this.state === 'paused') this.drainPaused();
      else this.isStale = true;
      return;
    }
    try {
      for (let goesOn = true; goesOn; ) {
        this.state = 'draining';
        this.isStale = false;
        if (this.clearing !== undefined) this.clearNow(this.clearing);
        const queue = this.next();
        const wait = queue === undefined ? this.becomesIdle() : this.serve(queue);
        if (wait === Number.POSITIVE_INFINITY) this.timer.cancel();
        else if (wait > 0) this.timer.set(wait, this.askedAt);
        goesOn = (wait === 0 || this.isStale) && !this.isPaused;
      }
    } finally {
      this.comeToRest();
    }
  }

  /** While nothing passes, those that have left are swept out all the same. */
  private drainPaused(): void {
    if (this.clearing === undefined) this.next();
    else {
      this.clearNow(this.clearing);
      this.comeToRest();
    }
  }

  /** Nothing is being done any more. A gate that is paused has no timer, and leaves shared limits to others. */
  private comeToRest(): void {
    if (!this.isPaused) {
      this.state = 'idle';
      return;
    }
    this.state = 'paused';
    this.timer.cancel();
    const now = this.clock.now();
    this.waits.note(false, PAUSED, now, this.clock);
    this.waits.note(true, PAUSED, now, this.clock);
    this.core.idle?.();
  }

  /** First all are refused and taken out, then their owners are told: what these send waits behind. */
  private clearNow(error: Error): void {
    const now = this.clock.now();
    const cleared: [ticket: Ticket, owner: AdmissionCallback, isRetry: boolean][] = [];
    this.clearing = undefined;
    this.state = 'deciding';
    for (const queue of [this.first, this.retries]) {
      for (let left = queue.length; left > 0 && queue.seek(); left -= 1) {
        const ticket = this.headTicket(queue);
        if (ticket === undefined) continue;
        const { owner } = queue;
        queue.shift();
        owner.queued -= 1;
        this.givesUp(ticket, owner);
        ticket.refuse(error);
        cleared.push([ticket, owner, queue === this.retries]);
      }
    }
    this.state = 'draining';
    for (const [ticket, owner, isRetry] of cleared) {
      if (ticket.outcome === undefined) this.waits.ended(ticket, isRetry, now, this.probeOf(owner));
      if (!owner.gone) notifyAdmitted(owner, ticket);
    }
  }

  /** Decides on the head of a queue. @returns for how long it waits, in ms; 0: another may be next */
  private serve(queue: RequestQueue): number {
    const { admission } = this;
    const isRetry = queue === this.retries;
    this.state = 'deciding';
    const ticket = this.headTicket(queue);
    if (ticket === undefined) return 0;
    const isLive = ticket.outcome === undefined && ticket.refusal === undefined;
    let now = UNREAD;
    let wait = Number.POSITIVE_INFINITY;
    if (!isLive || !admission.isFull(isRetry)) {
      now = this.clock.now();
      wait = isLive ? admission.wait(ticket, isRetry, now) : 0;
    }
    // Paused by one that policies have told something as they were asked.
    if (this.isPaused) return 0;
    if (wait <= 0) {
      const refusal = wait === REFUSED ? admission.refusal(ticket, now) : ticket.refusal;
      this.pass(queue, ticket, Number.isNaN(now) ? this.clock.now() : now, refusal);
      return 0;
    }
    // Gone while policies were asked, and no longer the head; or there is more to pass, or to be asked.
    if (isCancelled(ticket, queue.owner) || this.isStale) return 0;
    ticket.rounds += 1;
    this.askedAt = now;
    return this.holdBack(isRetry, wait);
  }

  /** The head of a queue waits. @returns for how long nobody need be asked about, in ms */
  private holdBack(isRetry: boolean, wait: number): number {
    const { admission } = this;
    const { isHoldShort } = admission;
    this.noteBinding(isRetry);
    if (!isHoldShort) return wait;
    if (this.retries.seek()) return Math.min(wait, this.serve(this.retries));
    this.core.idle?.();
    return wait;
  }

  private pass(queue: RequestQueue, ticket: Ticket, now: number, refusal: Error | undefined): void {
    const { owner } = queue;
    const isRetry = queue === this.retries;
    if (ticket.outcome === undefined) {
      if (refusal === undefined) this.admission.charge(ticket, isRetry, this, now);
      this.waits.ended(ticket, isRetry, now, this.probeOf(owner));
    }
    // Gone while others were told: it has counted this request among those that left.
    if (owner.gone) return;
    queue.shift();
    owner.queued -= 1;
    this.state = 'draining';
    // Not before: what was refused in the queue is cancelled there, and was counted by who did that.
    if (refusal !== undefined) ticket.refuse(refusal);
    notifyAdmitted(owner, ticket);
  }

  /** The queue whose head is next; undefined: nobody waits. */
  private next(): RequestQueue | undefined {
    const isWaiting = this.first.seek();
    if (!this.retries.seek()) return isWaiting ? this.first : undefined;
    return isWaiting && this.first.key < this.retries.key ? this.first : this.retries;
  }

  private queueOf(owner: AdmissionCallback): RequestQueue {
    return owner.isRetry === true ? this.retries : this.first;
  }

  /** The ticket of the head, made now if it has none. Undefined: the head could not be had. */
  private headTicket(queue: RequestQueue): Ticket | undefined {
    const { item, owner } = queue;
    if (isTicket(item)) return item;
    try {
      const ticket = owner.ticketOf?.(item, queue.since, queue.reply);
      if (ticket === undefined) return undefined;
      ticket.waitsSince = queue.since;
      // Refused from its making: in the queue it would count as cancelled, and not be told.
      if (ticket.refusal === undefined) queue.replace(ticket);
      return ticket;
    } catch (error) {
      reportLater(error);
      return undefined;
    }
  }

  /** A refused request passes for nothing; a newcomer may be refused before it waits. */
  private isTurnedAway(ticket: Ticket): boolean {
    const { check } = this.rules;
    if (check !== undefined && ticket.attempts === 0) {
      const error = check.turnsAway();
      if (error !== undefined) ticket.refuse(error);
    }
    return ticket.refusal !== undefined;
  }

  /** Whether nobody is before a newcomer. No getter: V8 goes through its runtime for a private one. */
  private isFree(): boolean {
    return this.state === 'idle' && !this.first.seek() && !this.retries.seek();
  }

  /** Asks about a newcomer, and again where something has changed meanwhile. @returns as `Core.wait` */
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

  /** Lets a newcomer pass that nobody is before, if it may. @returns whether it has, or was refused */
  private tryNewcomer(ticket: Ticket, owner: AdmissionCallback, now: number): boolean {
    const isRetry = owner.isRetry === true;
    const wait = this.askNewcomer(ticket, isRetry, now);
    if (wait > 0) {
      if (this.isPaused) return false;
      this.askedAt = now;
      this.noteBinding(isRetry);
      // Others may have come while policies were asked: they are before this one, and not asked yet.
      this.timer.set(this.waiting === 0 ? wait : 0, now);
      return false;
    }
    if (wait === REFUSED) this.refuse(ticket, now);
    else this.admission.charge(ticket, isRetry, this, now);
    this.waits.ended(ticket, isRetry, now, this.probeOf(owner));
    this.leaveTo(now);
    return true;
  }

  /** A newcomer is done with: others may have come while policies were asked, and not been asked yet. */
  private leaveTo(now: number): void {
    if (this.isPaused) return;
    if (this.waiting > 0) this.timer.set(0, now);
    else this.becomesIdle();
  }

  /** @returns its ticket, if it was refused after all, or may pass since others had to go */
  private wait(
    item: unknown,
    owner: AdmissionCallback,
    now: number,
    reply: unknown,
    wasAsked: boolean,
  ): Ticket | undefined {
    const queue = this.queueOf(owner);
    const ticket = isTicket(item) ? item : undefined;
    let isAsked = wasAsked;
    const { capacity } = this.rules;
    if (ticket !== undefined && capacity?.isBounded && ticket.attempts === 0) {
      const { dropped } = capacity;
      const isBusy = this.state === 'deciding';
      if (!this.makeRoom(capacity, ticket, owner, queue, isBusy)) {
        if (this.waiting === 0 && !this.isPaused) this.becomesIdle();
        return ticket;
      }
      if (capacity.dropped !== dropped) {
        // The head has gone: the next may need less than that, and the newcomer too.
        this.drain();
        isAsked = this.isFree();
        if (isAsked && this.tryNewcomer(ticket, owner, now)) return ticket;
      }
    }
    if (owner.gone) return undefined;
    // Retries are ordered among others by when they came to the limiter, not to this queue.
    const since = queue === this.first ? now : (ticket?.arrivedAt ?? now);
    const isNext = queue.push(item, owner, since, reply) || queue.length === 1;
    owner.queued += 1;
    if (ticket !== undefined) ticket.waitsSince = Number.NEGATIVE_INFINITY;
    if (isNext && !isAsked) this.drain();
    const { listener } = this.rules;
    if (listener?.isHeard() && queue.length > 0) this.tellStart(listener, owner, isNext);
    // NaN: it has passed by now, and its owner was told.
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
    const isTold = this.probeOf(owner) !== undefined;
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
    // That it was told to wait as it came is the first of its rounds.
    ticket.rounds = 0;
    const isRetry = owner.isRetry === true;
    if (!isRetry) this.rules.timeouts?.wait(ticket, this, owner);
    const probe = this.probeOf(owner);
    if (probe !== undefined) this.tellQueued(ticket, isRetry, probe);
  }

  /** Meanwhile it neither passes nor is given up: others first learn that it waits. */
  private tellQueued(ticket: Ticket, isRetry: boolean, probe: Probe): void {
    const { state, waiting } = this;
    const wasStale = this.isStale;
    if (state !== 'deciding') this.next();
    this.state = 'deciding';
    this.isStale = false;
    probe.queued?.(ticket, this.waits.kindOf(isRetry));
    this.state = state;
    if (state === 'idle' || state === 'paused') this.comeToRest();
    if (this.isStale || this.waiting !== waiting) this.drain();
    // Policies may be being asked about another, which came before: that one is asked about again.
    this.isStale ||= wasStale;
  }

  /** Notes what binds now in a queue, and in the other one behind it. */
  private noteBinding(isRetry: boolean): void {
    const { admission, waits, askedAt, clock } = this;
    const { isHoldShort, binding } = admission;
    waits.note(isRetry, binding, askedAt, clock);
    const isOtherWaiting = (isRetry ? this.first : this.retries).length > 0;
    // Slots and bytes bind only those that were never sent.
    if (isHoldShort || !isOtherWaiting) return;
    waits.note(!isRetry, admission.bindingBehind(!isRetry), askedAt, clock);
  }

  /** @returns 0: somebody has come meanwhile, sent by one that a policy has let pass elsewhere */
  private becomesIdle(): number {
    this.timer.cancel();
    this.waits.clear();
    if (this.core.idle === undefined) return Number.POSITIVE_INFINITY;
    this.core.idle();
    return this.next() === undefined ? Number.POSITIVE_INFINITY : 0;
  }

  /** Who is told of the waits of a request: at a gate that several share, those who brought it too. */
  private probeOf(owner: AdmissionCallback): Probe | undefined {
    if (this.rules.isShared !== true || owner.probe === undefined) return this.probe;
    return this.probe === undefined ? owner.probe : uniteProbes(this.probe, owner.probe);
  }

  private refuse(ticket: Ticket, now: number): void {
    const error = this.admission.refusal(ticket, now);
    if (error !== undefined) ticket.refuse(error);
  }
}

/** Since when the head of a queue waits. */
function sinceOf({ item, since }: RequestQueue): number {
  return isTicket(item) ? item.waitsSince : since;
}

/**
 * A ticket that was settled while it waits is not cancelled: its owner, which counts it, must be
 * told. One that was refused while it waits is: its owner has been told.
 */
function isCancelled(item: unknown, owner: AdmissionCallback): boolean {
  return owner.gone || (isTicket(item) && item.refusal !== undefined);
}
