import { ResettableTimer } from '../queue/resettable-timer.ts';
import type { Clock } from '../util/clock.ts';
import { Credits } from './credits.ts';
import { DemandMeter } from './demand-meter.ts';
import { StoreProtocolError } from './errors.ts';
import type { FleetHooks, FleetRequest, FleetSnapshot } from './fleet-hooks.ts';
import { Lent } from './lent.ts';
import { LocalShare } from './local-share.ts';
import {
  type Demand,
  type ExchangeReply,
  type ExchangeRequest,
  type GrantReply,
  MICRO,
  type Plan,
  PROTOCOL,
  type SharedConfig,
  type SharedStore,
  type Shortage,
} from './protocol.ts';
import { StoreCaller } from './store-caller.ts';
import { DEFAULT_TTL_MS } from './store-settings.ts';

/** Between two calls under load, in ms, and how many requests one of them is for. */
const SHORTEST_TICK_MS = 10;
const LONGEST_TICK_MS = 50;
const REQUESTS_A_CALL = 30;
/** The store is asked again for what waits after this time at the earliest, in ms. */
const URGENT_MS = 5;
/** Where something is short, it is asked for after this time at the earliest, in ms. */
const SHORT_MS = 25;
/** From this rate on, in requests a ms, calls come at a steady beat and ask ahead. */
const BUSY_PER_MS = 0.1;
/** How far ahead is asked for, in beats. */
const AHEAD = 2;
/** A grant that is so late, in ms, goes back. */
const STALE_MS = 25;

/** How far ahead a worker may reserve, in ms. */
export const RESERVED_MS = 50;

/**
 * One worker of a fleet: keeps what the store has granted, asks for more when requests wait, and
 * tells what it holds and has used.
 */
export class FleetWorker {
  readonly name: string;
  readonly credits = new Credits();
  readonly slots = new Lent();
  readonly bytes = new Lent();
  private readonly clock: Clock;
  private readonly hooks: FleetHooks;
  private readonly caller: StoreCaller;
  private readonly meter = new DemandMeter();
  /** Calls for what waits keep the process alive, those that keep leases do not. */
  private readonly askTimer: ResettableTimer;
  private readonly timer: ResettableTimer;
  private readonly share: LocalShare | undefined;
  private readonly ttlMs: number;
  private config: SharedConfig;
  private isConfigTold = false;
  private sequence = 0;
  private run = 0;
  private epoch = 0;
  /** Corrections that the store was not told yet, by limit. */
  private settled: number[] = [];
  /** The first request that could not pass. */
  /** The last call. */
  private told: ExchangeRequest | undefined = undefined;
  private head: FleetRequest | undefined = undefined;
  /** That of the last call. */
  private askedFor: FleetRequest | undefined = undefined;
  private why: Shortage = '';
  private shortLimit = -1;
  private sentAt = Number.NEGATIVE_INFINITY;
  /** What was granted is used until then. */
  private validUntil = Number.NEGATIVE_INFINITY;
  private plan: Plan | undefined = undefined;
  private last: GrantReply | undefined = undefined;
  private refusal: Error | undefined = undefined;
  private leads = false;
  private isClosed = false;
  private lostLeases = 0;
  private handovers = 0;
  private hasChanged = false;
  /** Requests that were sent since the last call. */
  private sentSince = 0;

  constructor(store: SharedStore, config: SharedConfig, clock: Clock, hooks: FleetHooks) {
    this.name = globalThis.crypto.randomUUID();
    this.config = config;
    this.clock = clock;
    this.hooks = hooks;
    this.ttlMs = store.ttlMs ?? DEFAULT_TTL_MS;
    this.share = store.onStoreLoss === 'share' ? new LocalShare() : undefined;
    const timeoutMs = Math.max(50, this.ttlMs * 0.4);
    this.caller = new StoreCaller(store, clock, timeoutMs, {
      answered: (reply, sentAt, now) => this.answered(reply, sentAt, now),
      lost: (error, now) => this.lost(error, now),
      back: (awayMs, now) => this.hooks.back(awayMs, now),
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

  /** Why the first request waits, and the place of the limit that is short. */
  get shortage(): Shortage {
    return this.why;
  }

  get shortPlace(): number {
    return this.shortLimit;
  }

  /** Whether the store cannot be reached. */
  get isAway(): boolean {
    return this.caller.isAway;
  }

  /** @returns as `Policy.wait`, but never `REFUSED` */
  wait(request: FleetRequest, now: number): number {
    const waitMs = this.waitMs(request, now);
    if (waitMs === 0) return 0;
    this.head = request;
    if (waitMs !== Number.POSITIVE_INFINITY) return waitMs;
    this.ask(now);
    // A store within the process has answered already.
    return this.waitMs(request, now);
  }

  take(request: FleetRequest, now: number): void {
    this.head = undefined;
    this.slots.take(request.slots);
    this.bytes.take(request.bytes);
    const costs = this.costsOf(request);
    if (this.isSharing) this.charge(costs, now);
    else this.credits.spend(costs);
    this.meter.sent(costs, request.slots, request.bytes, now);
    this.sentSince += 1;
    this.hasChanged = true;
    this.setTimer(now);
  }

  /** A request has ended. @param corrections what it cost more, or less, than it was charged, by limit */
  giveBack(request: FleetRequest, corrections: readonly number[] | undefined, now: number): void {
    this.slots.giveBack(request.slots);
    this.bytes.giveBack(request.bytes);
    if (corrections !== undefined) this.charge(corrections, now);
    this.hasChanged = true;
    this.setTimer(now);
  }

  /** Something must be told at once. */
  urge(): void {
    this.hasChanged = true;
    if (!this.caller.isBusy) this.exchange();
  }

  /** This limiter has other limits now: the newest of all workers are in force. */
  configure(config: SharedConfig): void {
    this.adopt(config);
    this.isConfigTold = false;
    this.urge();
  }

  /** Gives everything back. Requests in flight are told no more. */
  close(): void {
    this.isClosed = true;
    this.timer.cancel();
    this.askTimer.cancel();
    if (!this.caller.isBusy && this.sequence > 0) this.exchange();
    this.caller.close();
  }

  snapshot(): FleetSnapshot {
    const { counts, isAway } = this.caller;
    const { last } = this;
    const workers = last?.workers ?? 0;
    return {
      worker: this.name,
      isAway,
      workers,
      sharers: last?.sharers ?? 0,
      share: last === undefined ? 0 : 1 / Math.max(1, last.sharers),
      slots: { used: this.slots.used, held: this.slots.held },
      bytes: { used: this.bytes.used, held: this.bytes.held },
      calls: counts.calls,
      failedCalls: counts.failures,
      latencyMs: counts.latencyMs,
      lostLeases: this.lostLeases,
      handovers: this.handovers,
      leads: this.leads,
      epoch: this.epoch,
      waitsFor: this.hooks.waiting() > 0 ? this.why : '',
    };
  }

  private get places(): number {
    return this.config.limits.length + 2;
  }

  private get isSharing(): boolean {
    return this.share !== undefined && this.caller.isAway;
  }

  /** What a request costs of each limit, the learned ones last. */
  private costsOf(request: FleetRequest): readonly number[] {
    const { plan } = this;
    if (plan === undefined) return request.costs;
    return [
      ...request.costs,
      plan.requestsPerHour > 0 ? MICRO : 0,
      plan.tokensPerHour > 0 ? request.tokens : 0,
    ];
  }

  private waitMs(request: FleetRequest, now: number): number {
    if (this.isSharing) return this.share?.wait(this.costsOf(request), request, this, now) ?? 0;
    if (now > this.validUntil && this.validUntil > 0) this.expire();
    const { slots, bytes } = this;
    if (slots.used + request.slots > slots.held) return Number.POSITIVE_INFINITY;
    if (request.bytes > 0 && bytes.used + request.bytes > bytes.held) {
      return Number.POSITIVE_INFINITY;
    }
    return Math.max(0, this.credits.dueAt(this.costsOf(request)) - now);
  }

  /** The store has given to others by now what this worker does not use yet. */
  private expire(): void {
    this.credits.clear();
    this.slots.keep(0);
    this.bytes.keep(0);
    this.validUntil = Number.NEGATIVE_INFINITY;
  }

  /** While it goes on alone, its share is charged, and the store is not told later. */
  private charge(amounts: readonly number[], now: number): void {
    if (this.isSharing) {
      this.share?.charge(amounts, now);
      return;
    }
    amounts.forEach((amount, place) => {
      if (amount !== 0) this.settled[place] = (this.settled[place] ?? 0) + amount;
    });
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
    this.meter.look(now);
    if (this.last !== undefined && this.why !== '') {
      // Nothing is there: others would be asked in vain, too.
      const { closed, broken } = this.last;
      const closedMs = Math.max(closed, broken) / 1_000;
      if (closedMs > 0) return Math.min(closedMs, this.ttlMs / 4);
      // When half of what is reserved is used, there is room for more.
      const reservedMs = (this.credits.lastDueAt - this.sentAt) / 2;
      return Math.min(this.ttlMs / 4, Math.max(SHORT_MS, reservedMs));
    }
    // The same request waits that the last call was for: its answer was not enough.
    if (this.head !== undefined && this.head === this.askedFor) return URGENT_MS;
    return this.meter.perMs < BUSY_PER_MS ? 0 : URGENT_MS;
  }

  private tickMs(): number {
    const { perMs } = this.meter;
    if (perMs < BUSY_PER_MS) return LONGEST_TICK_MS;
    return Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, REQUESTS_A_CALL / perMs));
  }

  /** The next call by time alone: soon after a change, else to keep what is held. */
  private setTimer(now: number): void {
    if (this.isClosed || this.caller.isBusy || this.sequence === 0) return;
    const beatMs = this.hasChanged ? this.tickMs() : this.ttlMs / 4;
    const isAtRest =
      !this.hasChanged && !this.leads && this.slots.held === 0 && this.hooks.waiting() === 0;
    if (isAtRest) {
      this.timer.cancel();
      return;
    }
    const at = Math.max(now, this.sentAt + beatMs);
    if (at < this.timer.at) this.timer.set(at - now, now);
  }

  /** @param isAsking whether a request is asked about that may not wait yet */
  private exchange(isAsking = false): void {
    if (this.caller.isBusy || this.refusal !== undefined) return;
    const now = this.clock.now();
    this.timer.cancel();
    this.askTimer.cancel();
    if (!isAsking && this.hooks.waiting() === 0) this.head = undefined;
    this.askedFor = this.head;
    this.meter.look(now);
    if (now > this.validUntil && this.validUntil > 0) this.expire();
    const unused = this.credits.takeStale(now - STALE_MS, this.places);
    // What comes back may let go earlier what was reserved for later.
    const isEarlier = this.settled.some((amount) => amount < 0);
    const reserved = isEarlier ? this.credits.takeReserved(now + SHORT_MS, this.places) : [];
    for (const amounts of [unused, reserved]) {
      amounts.forEach((amount, place) => {
        if (amount > 0) this.settled[place] = (this.settled[place] ?? 0) - amount;
      });
    }
    const request = this.request();
    this.told = request;
    this.settled = [];
    this.sentAt = now;
    this.hasChanged = false;
    this.caller.call(request);
  }

  private request(): ExchangeRequest {
    const { hooks, slots, bytes, meter, head } = this;
    // One that is asked about as it arrives does not wait yet.
    const waiting = this.isClosed ? 0 : Math.max(hooks.waiting(), head === undefined ? 0 : 1);
    const isBusy = meter.perMs >= BUSY_PER_MS && this.sentSince > 0 && !this.isClosed;
    const ahead = isBusy ? Math.ceil(meter.perMs * this.tickMs() * AHEAD) : 0;
    this.sentSince = 0;
    const unused = this.credits.unused(this.places);
    const headSlots = waiting > 0 ? (head?.slots ?? 1) : 0;
    const headBytes = waiting > 0 ? (head?.bytes ?? 0) : 0;
    const neededSlots = waiting === 0 ? 0 : headSlots + (waiting - 1) * meter.slots;
    const neededBytes = waiting === 0 ? 0 : headBytes + (waiting - 1) * meter.bytes;
    // Where others wait for slots, none is kept for what may come.
    const aheadSlots = this.last?.contested === 1 ? 0 : ahead * meter.slots;
    const heldSlots = slots.keep(neededSlots + aheadSlots);
    const heldBytes = bytes.keep(neededBytes + ahead * meter.bytes);
    const wantedSlots = Math.max(0, neededSlots - slots.free);
    const wantedBytes = Math.max(0, neededBytes + ahead * meter.bytes - bytes.free);
    const news = hooks.news(this.clock.now());
    this.sequence += 1;
    return {
      protocol: PROTOCOL,
      worker: this.name,
      sequence: this.sequence,
      run: this.run,
      epoch: this.epoch,
      ...(this.isConfigTold ? {} : { config: this.config }),
      slots: heldSlots,
      wantedSlots,
      headSlots: Math.max(0, headSlots - slots.free),
      spareSlots: Math.max(0, neededSlots + aheadSlots - slots.free - wantedSlots),
      bytes: heldBytes,
      wantedBytes,
      headBytes: Math.max(0, headBytes - bytes.free),
      unused,
      settled: Array.from({ length: this.places }, (_, place) => this.settled[place] ?? 0),
      demand: this.demand(waiting, ahead, unused),
      closed: news.closed,
      throttled: news.throttled,
      broken: news.broken,
      leads: news.leads && !this.isClosed ? 1 : 0,
      term: 0,
      heard: 0,
      sends: 0,
      leaves: this.isClosed ? 1 : 0,
    };
  }

  /** What the requests cost that wait, and those that may come before the next call. */
  private demand(waiting: number, ahead: number, unused: readonly number[]): Demand[] {
    const { meter, head, slots } = this;
    if (waiting + ahead === 0 || this.isClosed) return [];
    const costs = head === undefined || meter.costs.length > 0 ? meter.costs : this.costsOf(head);
    let covered = Number.POSITIVE_INFINITY;
    for (let place = 0; place < costs.length; place += 1) {
      const cost = costs[place] as number;
      if (cost > 0) covered = Math.min(covered, Math.floor((unused[place] ?? 0) / cost));
    }
    if (covered === Number.POSITIVE_INFINITY) {
      const isFree = head === undefined || this.costsOf(head).every((cost) => cost === 0);
      if (isFree) return [];
      covered = 0;
    }
    const list: Demand[] = [];
    // What slots hold back needs no rate yet.
    const sendable =
      this.why === 'slots' || this.why === 'bytes'
        ? Math.min(waiting, Math.max(1, slots.held))
        : waiting;
    let needed = Math.max(0, sendable - covered);
    if (needed > 0 && head !== undefined && !this.covers(head, unused)) {
      list.push(this.demandOf(this.costsOf(head), head.tokens, 1, 0));
      needed -= 1;
    }
    if (needed > 0) list.push(this.demandOf(costs, meter.tokens, needed, 0));
    const spare = Math.max(0, waiting + ahead - Math.max(covered, waiting));
    if (spare > 0) list.push(this.demandOf(costs, meter.tokens, spare, 1));
    return list;
  }

  private covers(request: FleetRequest, unused: readonly number[]): boolean {
    return this.costsOf(request).every((cost, place) => cost <= (unused[place] ?? 0));
  }

  private demandOf(costs: readonly number[], tokens: number, count: number, spare: 0 | 1): Demand {
    const { length } = this.config.limits;
    const own = Array.from({ length }, (_, place) => costs[place] ?? 0);
    return { count, costs: own, tokens: costs[length + 1] ?? tokens, spare };
  }

  private answered(reply: ExchangeReply, sentAt: number, now: number): void {
    if (this.isClosed) return;
    if (reply.status === 'protocol') {
      this.refusal = new StoreProtocolError(PROTOCOL, reply.protocol);
      this.hooks.changed();
      return;
    }
    if (reply.status === 'config') {
      this.isConfigTold = false;
      this.untold();
      this.exchange();
      return;
    }
    const before = this.why;
    const hasForgotten = this.run !== 0 && reply.run !== this.run;
    if (reply.config !== undefined && this.told?.config === undefined) this.untold();
    this.isConfigTold = true;
    this.run = reply.run;
    this.epoch = reply.epoch;
    this.validUntil = sentAt + this.ttlMs / 2;
    this.last = reply;
    this.why = reply.why;
    this.shortLimit = reply.limit;
    if (reply.config !== undefined) this.meet(reply.config, now);
    if (this.hooks.waiting() === 0) this.head = undefined;
    if (reply.lost === 1) this.lostLeases += 1;
    this.slots.lent(reply.slots, reply.keptSlots);
    this.bytes.lent(reply.bytes, reply.keptBytes);
    this.plan = reply.plan;
    this.credits.add(reply.amounts, now + reply.from / 1_000, now + reply.until / 1_000);
    this.handovers = Math.max(0, reply.terms - 1);
    this.leads = reply.leads === 1;
    this.hooks.answered(reply, hasForgotten, now);
    const isNews = reply.why !== before || reply.amounts.some((amount) => amount > 0);
    if (isNews || this.slots.free > 0 || this.bytes.free > 0) this.hooks.changed();
    if (this.caller.isBusy) return;
    // What was asked for ahead goes back soon if it is not used.
    const hasMore = this.slots.free > 0 || this.credits.lastDueAt > Number.NEGATIVE_INFINITY;
    if (hasMore && this.hooks.waiting() === 0) this.hasChanged = true;
    this.setTimer(now);
    if (this.head !== undefined || this.hooks.waiting() > 0) {
      const dueAt = sentAt + Math.max(this.shortestGapMs(now), URGENT_MS);
      this.askTimer.set(Math.max(0, dueAt - now), now);
    }
  }

  /** The corrections of the last call were not made: they are told again. */
  private untold(): void {
    this.told?.settled.forEach((amount, place) => {
      this.settled[place] = (this.settled[place] ?? 0) + amount;
    });
  }

  /** The configuration of the store, which may be another worker's. */
  private meet(config: SharedConfig, now: number): void {
    if (JSON.stringify(config) === JSON.stringify(this.config)) return;
    this.adopt(config);
    this.hooks.reconfigured(config, this.epoch, now);
    this.hasChanged = true;
  }

  private adopt(config: SharedConfig): void {
    const before = this.config.limits;
    this.settled = config.limits.map(
      ({ name }) => this.settled[before.findIndex((limit) => limit.name === name)] ?? 0,
    );
    this.credits.clear();
    this.head = undefined;
    this.meter.costs = [];
    this.config = config;
  }

  private lost(error: Error, now: number): void {
    this.share?.begin(this.config, this.plan, this.last?.workers ?? 1, this, now);
    this.hooks.lost(error, now);
    this.hooks.changed();
  }
}
