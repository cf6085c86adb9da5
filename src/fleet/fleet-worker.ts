import type { Clock } from '../util/clock.ts';
import { ResettableTimer } from '../util/resettable-timer.ts';
import { requestsAhead, SHORTEST_TICK_MS, shortestGapMs, tickMs, URGENT_MS } from './call-times.ts';
import { Corrections } from './corrections.ts';
import { DemandMeter } from './demand-meter.ts';
import { StoreProtocolError } from './errors.ts';
import { costsOf, exchangeRequest, placesOf } from './exchange-request.ts';
import type { FleetHooks, FleetRequest, FleetSnapshot } from './fleet-hooks.ts';
import { fleetSnapshot } from './fleet-snapshot.ts';
import { Holdings } from './holdings.ts';
import { LocalShare } from './local-share.ts';
import {
  type ExchangeReply,
  type ExchangeRequest,
  type GrantReply,
  PROTOCOL,
  type SharedConfig,
  type Shortage,
} from './protocol.ts';
import type { StoreCalls } from './shared-store.ts';
import { StoreCaller } from './store-caller.ts';
import { DEFAULT_TTL_MS } from './store-settings.ts';

/** A grant that is so late, in ms, goes back. */
const STALE_MS = 25;
/** What is reserved for so much later, in ms, goes back if it may be had earlier. */
const RESERVED_LATER_MS = 25;

/** How far ahead a worker may reserve, in ms. */
export const RESERVED_MS = 50;

/**
 * One worker of a fleet: lets requests go with what the store has granted, and calls it when requests
 * wait, when something has changed, and often enough to keep what it holds.
 */
export class FleetWorker {
  readonly name: string;
  private readonly clock: Clock;
  private readonly hooks: FleetHooks;
  private readonly caller: StoreCaller;
  private readonly meter = new DemandMeter();
  private readonly holdings = new Holdings();
  private readonly corrections = new Corrections();
  /** Calls for what waits keep the process alive, those that keep leases do not. */
  private readonly askTimer: ResettableTimer;
  private readonly timer: ResettableTimer;
  private readonly share: LocalShare | undefined;
  private readonly ttlMs: number;
  private config: SharedConfig;
  private isConfigTold = false;
  private sequence = 0;
  /** The last call, and when it was made. */
  private told: ExchangeRequest | undefined = undefined;
  private toldExpiries = 0;
  private sentAt = Number.NEGATIVE_INFINITY;
  /** The first request that could not pass, and that of the last call. */
  private head: FleetRequest | undefined = undefined;
  private askedFor: FleetRequest | undefined = undefined;
  /** Whether the first request could pass when it was asked about: other limits may hold it back. */
  private isServed = false;
  private last: GrantReply | undefined = undefined;
  /** By the plan nothing goes until then. */
  private heldUntil = Number.NEGATIVE_INFINITY;
  /** Whether the last grant is due later than at once, and no configured limit is the reason. */
  private isLate = false;
  private refusal: Error | undefined = undefined;
  private isClosed = false;
  private lostLeases = 0;
  /** Whether the answer that is read ends a time in which it went on alone. */
  private wasAlone = false;
  private charges = 0;
  private hasChanged = false;
  /** Requests that were sent since the last call. */
  private sentSince = 0;
  private sent = 0;

  constructor(store: StoreCalls, config: SharedConfig, clock: Clock, hooks: FleetHooks) {
    const run = globalThis.crypto.randomUUID();
    this.name = store.worker === undefined ? run : `${store.worker}/${run}`;
    this.config = config;
    this.clock = clock;
    this.hooks = hooks;
    this.ttlMs = store.ttlMs ?? DEFAULT_TTL_MS;
    this.share = store.onStoreLoss === 'share' ? new LocalShare() : undefined;
    const timeoutMs = Math.max(50, this.ttlMs * 0.4);
    this.caller = new StoreCaller(store, clock, timeoutMs, {
      answered: (reply, sentAt, now) => this.answered(reply, sentAt, now),
      lost: (error, now) => this.lost(error, now),
      back: (awayMs, now) => this.back(awayMs, now),
      repeated: (request) => this.repeated(request),
      called: (tookMs, isAnswered, now) => this.called(tookMs, isAnswered, now),
      isAwaited: () => this.hooks.waiting() > 0,
    });
    this.askTimer = new ResettableTimer(clock, () => this.exchange());
    this.timer = new ResettableTimer(clock, () => this.exchange(), false);
  }

  /** The limits that are in force, in the order of the amounts. */
  get limits(): SharedConfig['limits'] {
    return this.config.limits;
  }

  /** Why the store refuses this worker. */
  get error(): Error | undefined {
    return this.refusal;
  }

  /**
   * Counts the places where charges are kept: another one begins when the store has forgotten them, and
   * when this worker goes on alone or no more. What was charged at one cannot go back to another.
   */
  get ledger(): number {
    return this.charges;
  }

  /** Why the first request waits, and the place of the limit that is short. */
  get shortage(): Shortage {
    return this.last?.why ?? '';
  }

  get shortPlace(): number {
    return this.last?.limit ?? -1;
  }

  /** Whether what goes now was granted as a rate lets it, and nothing else was short. */
  get isPaced(): boolean {
    const { last } = this;
    return this.isLate && (last?.plan?.requestsPerHour ?? 0) > 0;
  }

  /** Whether requests wait here for what was learned. */
  get isHeldBack(): boolean {
    const { last } = this;
    if (last === undefined || this.hooks.waiting() === 0) return false;
    return this.isPaced || last.limit >= this.config.limits.length;
  }

  /** Whether the store cannot be reached. */
  get isAway(): boolean {
    return this.caller.isAway;
  }

  /** @returns as `Policy.wait`, but never `REFUSED` */
  wait(request: FleetRequest, now: number): number {
    const waitMs = this.waitMs(request, now);
    this.isServed = waitMs === 0;
    if (waitMs === 0) return 0;
    this.head = request;
    if (waitMs !== Number.POSITIVE_INFINITY) return waitMs;
    this.ask(now);
    // A store within the process has answered already.
    const restMs = this.waitMs(request, now);
    this.isServed = restMs === 0;
    return restMs;
  }

  take(request: FleetRequest, now: number): void {
    this.head = undefined;
    this.isServed = false;
    const { slots, bytes, credits } = this.holdings;
    slots.take(request.slots);
    bytes.take(request.bytes);
    const costs = costsOf(request, this.last?.plan);
    if (this.isSharing) this.charge(costs, now);
    else credits.spend(costs);
    this.meter.sent(costs, request.slots, request.bytes, now);
    this.sentSince += 1;
    this.sent += 1;
    this.hasChanged = true;
    this.setTimer(now);
  }

  /** A request has ended. @param corrections what it cost more, or less, than it was charged, by limit */
  giveBack(request: FleetRequest, corrections: readonly number[] | undefined, now: number): void {
    this.holdings.expire(now);
    this.holdings.slots.giveBack(request.slots);
    this.holdings.bytes.giveBack(request.bytes);
    if (corrections !== undefined) this.charge(corrections, now);
    this.hasChanged = true;
    this.setTimer(now);
  }

  /** Something must be told at once. */
  urge(): void {
    this.hasChanged = true;
    if (!this.caller.isBusy) this.exchange();
  }

  /** Something must be told soon: what this and other workers send depends on it. */
  hurry(now: number): void {
    this.hasChanged = true;
    if (this.isClosed || this.caller.isBusy) return;
    const at = Math.max(now, this.sentAt + SHORTEST_TICK_MS);
    if (at < this.timer.at) this.timer.set(at - now, now);
  }

  /** This limiter has other limits now: the newest of all workers are in force. */
  configure(config: SharedConfig): void {
    this.adopt(config);
    this.isConfigTold = false;
    if (this.sequence > 0) this.urge();
  }

  /** Gives everything back. Requests in flight are told no more. */
  close(): void {
    this.isClosed = true;
    this.timer.cancel();
    this.askTimer.cancel();
    if (this.sequence === 0 || this.refusal !== undefined) return;
    const { credits } = this.holdings;
    this.corrections.giveBack(credits.takeStale(Number.POSITIVE_INFINITY, placesOf(this.config)));
    this.caller.end(this.request(this.clock.now()));
  }

  snapshot(): FleetSnapshot {
    const { name: worker, caller, last, holdings, lostLeases } = this;
    const isWaiting = this.hooks.waiting() > 0;
    return fleetSnapshot({ worker, caller, last, holdings, lostLeases, isWaiting });
  }

  private get isSharing(): boolean {
    return this.share !== undefined && this.caller.isAway;
  }

  private waitMs(request: FleetRequest, now: number): number {
    const costs = costsOf(request, this.last?.plan);
    const { slots, bytes, credits } = this.holdings;
    if (this.isSharing) return this.share?.wait(costs, request, this.holdings, now) ?? 0;
    this.holdings.expire(now);
    if (now < this.heldUntil) return this.heldUntil - now;
    if (slots.used + request.slots > slots.held) return Number.POSITIVE_INFINITY;
    if (request.bytes > 0 && bytes.used + request.bytes > bytes.held) {
      return Number.POSITIVE_INFINITY;
    }
    return Math.max(0, credits.dueAt(costs) - now);
  }

  /** While it goes on alone, its share is charged, and the store is not told later. */
  private charge(amounts: readonly number[], now: number): void {
    if (this.isSharing) this.share?.charge(amounts, now);
    else this.corrections.add(amounts);
  }

  /** Asks the store soon: at once, unless it was asked just now. */
  private ask(now: number): void {
    this.hasChanged = true;
    if (this.caller.isBusy || this.isClosed) return;
    const dueAt = this.sentAt + this.shortestGapMs(now);
    if (dueAt <= now) this.exchange(true);
    else this.askTimer.set(dueAt - now, now);
  }

  private shortestGapMs(now: number): number {
    const { meter, last, ttlMs, sentAt, head } = this;
    meter.look(now);
    const { lastDueAt } = this.holdings.credits;
    const isSameHead = head !== undefined && head === this.askedFor;
    return shortestGapMs({ meter, last, ttlMs, sentAt, lastDueAt, isSameHead });
  }

  /** The next call by time alone: soon after a change, else to keep what is held. */
  private setTimer(now: number): void {
    if (this.isClosed || this.caller.isBusy || this.sequence === 0) return;
    const idleMs = Math.min(this.ttlMs / 4, this.hooks.beatMs(now));
    const beatMs = this.hasChanged ? Math.min(idleMs, tickMs(this.meter)) : idleMs;
    const isAtRest =
      !this.hasChanged &&
      this.last?.leads !== 1 &&
      this.holdings.slots.held === 0 &&
      this.hooks.waiting() === 0;
    if (isAtRest) {
      this.timer.cancel();
      return;
    }
    const at = Math.max(now, this.sentAt + beatMs);
    if (at < this.timer.at) this.timer.set(at - now, now);
  }

  /** @param isAsking whether a request is asked about that may not wait yet */
  private exchange(isAsking = false): void {
    if (this.caller.isBusy || this.isClosed || this.refusal !== undefined) return;
    const now = this.clock.now();
    this.timer.cancel();
    this.askTimer.cancel();
    if (!isAsking && this.hooks.waiting() === 0) this.head = undefined;
    this.askedFor = this.head;
    this.meter.look(now);
    this.holdings.expire(now);
    this.returnUnused(now);
    const request = this.request(now);
    this.told = request;
    if (this.toldExpiries !== this.holdings.expiries) this.isServed = false;
    this.toldExpiries = this.holdings.expiries;
    this.sentAt = now;
    this.sentSince = 0;
    this.hasChanged = false;
    this.caller.call(request);
  }

  private returnUnused(now: number): void {
    const { credits } = this.holdings;
    const places = placesOf(this.config);
    // What comes back may let go earlier what was reserved for later.
    const isEarlier = this.corrections.hasReturns;
    const stale = credits.takeStale(now - STALE_MS, places);
    if (stale.some((amount) => amount > 0)) this.isServed = false;
    this.corrections.giveBack(stale);
    if (!isEarlier) return;
    this.corrections.giveBack(credits.takeReserved(now + RESERVED_LATER_MS, places));
  }

  private request(now: number): ExchangeRequest {
    const { hooks, holdings, meter, head, config, isClosed } = this;
    this.sequence += 1;
    return exchangeRequest({
      worker: this.name,
      sequence: this.sequence,
      sent: this.sent,
      config,
      isConfigTold: this.isConfigTold,
      last: this.last,
      holdings,
      meter,
      head,
      // One that is asked about as it arrives does not wait yet.
      waiting: isClosed ? 0 : Math.max(hooks.waiting(), head === undefined ? 0 : 1),
      ahead: isClosed || this.sentSince === 0 ? 0 : requestsAhead(meter),
      corrections: this.corrections.take(placesOf(config)),
      news: hooks.news(now),
      isLeaving: isClosed,
    });
  }

  private answered(reply: ExchangeReply, sentAt: number, now: number): void {
    if (reply.status === 'protocol') {
      this.refusal = new StoreProtocolError(PROTOCOL, reply.protocol);
      this.hooks.changed();
      return;
    }
    if (reply.status === 'config') {
      this.isConfigTold = false;
      this.untold();
      if (this.last !== undefined) this.forgetCharges();
      // A store within the process answers before the request that is asked about waits.
      this.exchange(true);
      return;
    }
    this.granted(reply, sentAt, now);
    if (this.caller.isBusy) return;
    const { slots, credits } = this.holdings;
    // What was asked for ahead goes back soon if it is not used.
    const hasMore = slots.free > 0 || credits.lastDueAt > Number.NEGATIVE_INFINITY;
    if (hasMore && this.hooks.waiting() === 0) this.hasChanged = true;
    this.setTimer(now);
    if (!this.isServed && (this.head !== undefined || this.hooks.waiting() > 0)) {
      const dueAt = sentAt + Math.max(this.shortestGapMs(now), URGENT_MS);
      this.askTimer.set(Math.max(0, dueAt - now), now);
    }
  }

  private granted(reply: GrantReply, sentAt: number, now: number): void {
    const before = this.last;
    const hasForgotten = before !== undefined && reply.run !== before.run;
    if (reply.config !== undefined && this.told?.config === undefined) this.untold();
    if (hasForgotten) this.forgetCharges();
    this.isConfigTold = true;
    this.last = reply;
    const isOwn = reply.limit >= 0 && reply.limit < this.config.limits.length;
    if (reply.count > 0) this.isLate = reply.until > 0 && !isOwn;
    this.heldUntil = now + reply.held / 1_000;
    const { holdings } = this;
    const { slots, bytes } = holdings;
    holdings.expire(now);
    // What it has told to hold may be lent to others, too, if the store had not heard of it for long.
    const told = holdings.expiries === this.toldExpiries ? undefined : this.told;
    holdings.renew(sentAt + this.ttlMs / 2);
    if (reply.config !== undefined) this.meet(reply.config, now);
    if (this.hooks.waiting() === 0) this.head = undefined;
    if (reply.lost === 1) this.lostLeases += 1;
    // Back from going on alone it has no more than then: others may have had more than the store knows.
    const { wasAlone } = this;
    this.wasAlone = false;
    slots.lent(
      wasAlone ? Math.min(slots.held, reply.slots) : reply.slots,
      reply.keptSlots,
      told?.slots,
    );
    bytes.lent(
      wasAlone ? Math.min(bytes.held, reply.bytes) : reply.bytes,
      reply.keptBytes,
      told?.bytes,
    );
    holdings.credits.add(reply.amounts, now + reply.from / 1_000, now + reply.until / 1_000);
    this.hooks.answered(reply, hasForgotten, now, sentAt);
    const isNews = reply.why !== (before?.why ?? '') || reply.amounts.some((amount) => amount > 0);
    if (isNews || slots.free > 0 || bytes.free > 0) this.hooks.changed();
  }

  /** The corrections of the last call were not made: they are told again. */
  private untold(): void {
    if (this.told !== undefined) this.corrections.untold(this.told);
  }

  /** The store has begun anew, and knows of no charge: nothing can go back to it. */
  private forgetCharges(): void {
    this.charges += 1;
    this.corrections.dropReturns();
    this.holdings.credits.clear();
  }

  /** The configuration of the store, which may be another worker's. */
  private meet(config: SharedConfig, now: number): void {
    if (JSON.stringify(config) === JSON.stringify(this.config)) return;
    this.adopt(config);
    this.hooks.reconfigured(config, this.last?.epoch ?? 0, now);
    this.hasChanged = true;
  }

  private adopt(config: SharedConfig): void {
    this.corrections.rearrange(this.config.limits, config.limits);
    this.holdings.credits.clear();
    this.head = undefined;
    this.meter.costs = [];
    this.config = config;
  }

  private called(tookMs: number, isAnswered: boolean, now: number): void {
    this.hooks.called(tookMs, isAnswered);
    if (isAnswered || !this.isSharing || this.share?.failed(this.holdings, now) !== true) return;
    this.hooks.changed();
  }

  /** While it goes on alone, what it holds is not what it held as it called. */
  private repeated(request: ExchangeRequest): ExchangeRequest {
    if (!this.isSharing) return request;
    const { slots, bytes } = this.holdings;
    this.told = { ...request, alone: 1, slots: slots.held, bytes: bytes.held };
    return this.told;
  }

  private lost(error: Error, now: number): void {
    if (this.share !== undefined) {
      this.charges += 1;
      this.share.begin({
        config: this.config,
        plan: this.last?.plan,
        workers: this.last?.workers ?? 1,
        pools: this.holdings,
        now,
        fullAt: now + this.ttlMs,
      });
      // Its share is its own until the store answers again.
      this.holdings.renew(Number.POSITIVE_INFINITY);
    }
    this.hooks.lost(error, now);
    this.hooks.changed();
  }

  private back(awayMs: number, now: number): void {
    if (this.share !== undefined) {
      this.charges += 1;
      this.wasAlone = true;
    }
    this.hooks.back(awayMs, now);
  }
}
