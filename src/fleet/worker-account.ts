import { DemandMeter } from './call-times.ts';
import { Corrections, type Told } from './corrections.ts';
import { costsOf, placesOf } from './exchange-request.ts';
import type { FleetRequest } from './fleet-hooks.ts';
import { Holdings } from './holdings.ts';
import { LocalShare } from './local-share.ts';
import type { ExchangeRequest, GrantReply, SharedConfig, Shortage } from './protocol.ts';

/** A grant that is so late, in ms, goes back. */
const STALE_MS = 25;
/** One that is so late is not used any more: what is used late adds to what flows in later. */
const LATEST_MS = 50;
/** What is reserved for so much later, in ms, goes back if it may be had earlier. */
const RESERVED_LATER_MS = 25;

/**
 * - `together`: what it uses was granted by the store;
 * - `alone`: the store is away, and it uses its own share;
 * - `back`: the store is there again, and has not granted anything yet.
 */
type Standing = 'together' | 'alone' | 'back';

/** What a worker has for requests, by the answers of the store, and what it owes the store. */
export class WorkerAccount {
  readonly holdings = new Holdings();
  readonly meter = new DemandMeter();
  config: SharedConfig;
  /** The last grant of the store. */
  last: GrantReply | undefined = undefined;
  /** Requests that were sent. */
  sent = 0;
  /**
   * Counts the places where charges are kept: another one begins when the store has forgotten them, and
   * when this worker goes on alone or no more. What was charged at one cannot go back to another.
   */
  ledger = 0;
  private readonly corrections = new Corrections();
  /** Undefined: it does not go on alone. */
  private readonly share: LocalShare | undefined;
  private standing: Standing = 'together';
  /** By the plan nothing goes until then. */
  private heldUntil = Number.NEGATIVE_INFINITY;
  /** Whether the last grant is due later than at once, and no configured limit is the reason. */
  private isLate = false;

  /** @param goesOn whether it goes on with its own share while the store is away */
  constructor(config: SharedConfig, goesOn: boolean) {
    this.config = config;
    this.share = goesOn ? new LocalShare() : undefined;
  }

  /** The limits that are in force, in the order of the amounts. */
  get limits(): SharedConfig['limits'] {
    return this.config.limits;
  }

  /** More slots are never lent to all workers together. */
  get mostSlots(): number {
    const { slots, startSlots } = this.config;
    const learned = this.last?.plan?.slots ?? startSlots;
    return learned > 0 ? Math.min(learned, slots) : slots;
  }

  /** Why the first request waits. */
  get shortage(): Shortage {
    return this.last?.why ?? '';
  }

  /** The name of the limit that is short; undefined: none is, or a learned one. */
  get shortLimit(): string | undefined {
    return this.limits[this.last?.limit ?? -1]?.name;
  }

  /** Whether a learned limit is short. */
  get isLearnedShort(): boolean {
    return this.last !== undefined && this.last.limit >= this.limits.length;
  }

  /** Whether what goes now was granted as a rate lets it, and nothing else was short. */
  get isPaced(): boolean {
    return this.isLate && (this.last?.plan?.requestsPerHour ?? 0) > 0;
  }

  /** Whether it goes on with its own share. */
  get isAlone(): boolean {
    return this.standing === 'alone';
  }

  /** @returns as `Policy.wait`; Infinity: it takes another grant */
  waitMs(request: FleetRequest, now: number): number {
    const costs = costsOf(request, this.last?.plan);
    const { slots, bytes, credits } = this.holdings;
    if (this.isAlone) return this.share?.wait(costs, request, this.holdings, now) ?? 0;
    this.holdings.expire(now);
    if (now < this.heldUntil) return this.heldUntil - now;
    if (slots.used + request.slots > slots.held) return Number.POSITIVE_INFINITY;
    if (request.bytes > 0 && bytes.used + request.bytes > bytes.held) {
      return Number.POSITIVE_INFINITY;
    }
    const latestAt = now - LATEST_MS;
    if (credits.hasStale(latestAt)) {
      this.corrections.giveBack(credits.takeStale(latestAt, placesOf(this.config)));
    }
    return Math.max(0, credits.dueAt(costs) - now);
  }

  take(request: FleetRequest, now: number): void {
    const { slots, bytes, credits } = this.holdings;
    slots.take(request.slots);
    bytes.take(request.bytes);
    const costs = costsOf(request, this.last?.plan);
    if (this.isAlone) this.charge(costs, now);
    else credits.spend(costs);
    this.meter.sent(costs, request.slots, request.bytes, now);
    this.sent += 1;
  }

  /** A request has ended. @param corrections what it cost more, or less, than it was charged, by limit */
  giveBack(request: FleetRequest, corrections: readonly number[] | undefined, now: number): void {
    this.holdings.expire(now);
    this.holdings.slots.giveBack(request.slots);
    this.holdings.bytes.giveBack(request.bytes);
    if (corrections !== undefined) this.charge(corrections, now);
  }

  /** While it goes on alone, its share is charged, and the store is not told later. */
  private charge(amounts: readonly number[], now: number): void {
    if (this.isAlone) this.share?.charge(amounts, now);
    else this.corrections.add(amounts);
  }

  /**
   * What it does not use in time goes back with the next call.
   * @returns whether requests may have waited for a part of that
   */
  returnUnused(now: number): boolean {
    const { credits } = this.holdings;
    const places = placesOf(this.config);
    // What comes back may let go earlier what was reserved for later.
    const isEarlier = this.corrections.hasReturns;
    const stale = credits.takeStale(now - STALE_MS, places);
    this.corrections.giveBack(stale);
    if (isEarlier) this.corrections.giveBack(credits.takeReserved(now + RESERVED_LATER_MS, places));
    return stale.some((amount) => amount > 0);
  }

  /** What is reserved covers what requests like this one cost of the learned rates, too. */
  coverLearned(request: FleetRequest, now: number): void {
    const costs = costsOf(request, this.last?.plan);
    const isLearned = (place: number) => place >= this.limits.length;
    this.holdings.credits.cover(
      costs.map((cost, place) => (isLearned(place) ? cost : 0)),
      now,
    );
  }

  /** All that was granted goes back with the next call. */
  returnAll(): void {
    const { credits } = this.holdings;
    this.corrections.giveBack(credits.takeStale(Number.POSITIVE_INFINITY, placesOf(this.config)));
  }

  /** Takes out what there is to tell of earlier charges. */
  takeCorrections(): Told {
    return this.corrections.take(placesOf(this.config));
  }

  /** The store was not told of these corrections after all. */
  untold(corrections: Told): void {
    this.corrections.untold(corrections);
  }

  /** The store has begun anew, and knows of no charge: nothing can go back to it. */
  forgetCharges(): void {
    this.ledger += 1;
    this.corrections.dropReturns();
    this.holdings.credits.clear();
  }

  /** Other limits are in force. */
  adopt(config: SharedConfig): void {
    this.corrections.rearrange(this.limits, config.limits);
    this.holdings.credits.clear();
    this.meter.costs = [];
    this.config = config;
  }

  /** The store has answered. What it grants is taken with `receive`, under the limits of the store. */
  heard(reply: GrantReply, now: number): void {
    this.last = reply;
    const isOwn = reply.limit >= 0 && !this.isLearnedShort;
    if (reply.count > 0) this.isLate = reply.until > 0 && !isOwn;
    this.heldUntil = now + reply.held / 1_000;
    this.holdings.expire(now);
  }

  /** @param told what it has told to hold, if others may have been lent that, too */
  receive(reply: GrantReply, told: ExchangeRequest | undefined, now: number): void {
    const { slots, bytes, credits } = this.holdings;
    // Back from going on alone it has no more than then: others may have had more than the store knows.
    const isBack = this.standing === 'back';
    this.standing = 'together';
    const heldSlots = isBack ? Math.min(slots.held, reply.slots) : reply.slots;
    const heldBytes = isBack ? Math.min(bytes.held, reply.bytes) : reply.bytes;
    // What was there already is not late yet.
    const untilMs = Math.max(0, reply.until) / 1_000;
    credits.add(reply.amounts, now + reply.from / 1_000, now + untilMs, reply.count);
    // The slot of a request that has reserved its time: without it what is reserved would be lost.
    const reserved = credits.lastDueAt > Number.NEGATIVE_INFINITY ? 1 : 0;
    slots.lent(heldSlots, reply.keptSlots, told?.slots, reserved);
    bytes.lent(heldBytes, reply.keptBytes, told?.bytes);
  }

  /** The store is away. @param fullAt from then on it has its whole share of slots and bytes */
  goAlone(now: number, fullAt: number): void {
    if (this.share === undefined) return;
    this.ledger += 1;
    this.standing = 'alone';
    const { config, holdings, last } = this;
    const { plan, workers = 1 } = last ?? {};
    this.share.begin({ config, plan, workers, pools: holdings, now, fullAt });
    // Its share is its own until the store answers again.
    holdings.renew(Number.POSITIVE_INFINITY);
  }

  /** The store is still away. @returns whether it has its whole share from now on */
  stayAlone(now: number): boolean {
    return this.isAlone && this.share?.failed(this.holdings, now) === true;
  }

  /** The store is there again. */
  comeBack(): void {
    if (this.share === undefined) return;
    this.ledger += 1;
    this.standing = 'back';
  }
}
