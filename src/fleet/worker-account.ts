import { costsOf, placesOf } from './amounts.ts';
import { CallTimes } from './call-times.ts';
import { Corrections, type Told } from './corrections.ts';
import { DemandMeter } from './demand-meter.ts';
import type { FleetRequest } from './fleet-hooks.ts';
import { waitFactors } from './grant-replies.ts';
import { Holdings } from './holdings.ts';
import { LocalShare } from './local-share.ts';
import type { GrantReply, SharedConfig, Shortage } from './protocol.ts';

/** A call of the store returns grants that have been due for longer than this, in ms. */
const STALE_MS = 25;
/** The time until all workers know a plan, in ms: one call of the leader and one of each worker. */
export const REACTION_MS = 100;
/** Grants due for longer than this are not used: late use would add to the later refill. */
const LATEST_MS = 50;

/**
 * - `together`: the worker uses grants of the store;
 * - `alone`: the store is away, and the worker uses its own share;
 * - `back`: the store has replied again, but has not granted anything yet.
 */
type Standing = 'together' | 'alone' | 'back';

/** The grants and leases that a worker has from the store, and the corrections still to report. */
export class WorkerAccount {
  readonly holdings = new Holdings();
  readonly meter = new DemandMeter();
  private readonly times = new CallTimes();
  /** How long after the last reply the amounts that were due then are used, in ms. */
  private lagMs = 0;
  config: SharedConfig;
  /** The last reply of the store. */
  last: GrantReply | undefined = undefined;
  /** Requests that were sent. */
  sent = 0;
  /**
   * Counts the ledgers of charges. A new ledger begins when the store has lost its state, and when
   * this worker begins or stops going on alone. A charge is refunded only in its own ledger.
   */
  ledger = 0;
  private readonly corrections = new Corrections();
  /** Undefined: this worker does not go on alone. */
  private readonly share: LocalShare | undefined;
  private standing: Standing = 'together';
  /** The plan, or a rejection of a worker that goes on alone, lets nothing be sent before this. */
  private heldUntil = Number.NEGATIVE_INFINITY;
  /** A rejection at a learned cap lets nothing be sent before this. */
  private cappedUntil = Number.NEGATIVE_INFINITY;
  /** Whether the last grant is not due at once, for another reason than a configured limit. */
  private isLate = false;

  /** @param goesOn whether the worker goes on with its own share while the store is away */
  constructor(config: SharedConfig, goesOn: boolean) {
    this.config = config;
    this.share = goesOn ? new LocalShare() : undefined;
  }

  /** What calls of the store take, in ms. */
  get tookMs(): number {
    return this.times.tookMs;
  }

  /** The present limits, in the order of the amounts. */
  get limits(): SharedConfig['limits'] {
    return this.config.limits;
  }

  /** The most slots that the store lends to all workers together. */
  get mostSlots(): number {
    const { slots, startSlots } = this.config;
    const learned = this.last?.plan?.slots ?? startSlots;
    return learned > 0 ? Math.min(learned, slots) : slots;
  }

  /**
   * The slots of all workers together, of which a worker that goes on alone has its share. While the
   * provider rejects everything, the plan lets single probes pass, and no rate may be known: without
   * the plan all slots would be filled with requests that are rejected.
   */
  private get aloneSlots(): number {
    const { mostSlots, last } = this;
    const { startSlots } = this.config;
    const isOut = last?.plan?.isOut === 1;
    return isOut && startSlots > 0 ? Math.min(startSlots, mostSlots) : mostSlots;
  }

  /**
   * Why the first request waits. The store names slots and bytes before rates, and a worker wants
   * them for all its waiting requests. If the first one has them, the rate holds it.
   */
  shortageOf(head: FleetRequest | undefined): Shortage {
    const why = this.last?.why ?? '';
    if (head === undefined || (why !== 'slots' && why !== 'bytes')) return why;
    const { slots, bytes } = this.holdings;
    const isServed = head.slots <= slots.free && (head.bytes === 0 || head.bytes <= bytes.free);
    if (!isServed || (this.last?.limit ?? -1) < 0) return why;
    return this.isLearnedShort ? 'learned' : 'limit';
  }

  /** The name of the limit that is short; undefined: none is, or a learned one is. */
  get shortLimit(): string | undefined {
    return this.limits[this.last?.limit ?? -1]?.name;
  }

  /** Whether a learned limit is short. */
  get isLearnedShort(): boolean {
    return this.last !== undefined && this.last.limit >= this.limits.length;
  }

  /** Whether a learned rate of requests spread the last grant over time, and nothing else did. */
  get isPaced(): boolean {
    return this.isLate && (this.last?.plan?.requestsPerHour ?? 0) > 0;
  }

  /** Whether the worker goes on with its own share. */
  get isAlone(): boolean {
    return this.standing === 'alone';
  }

  /**
   * The slots and bytes that a call of a worker that goes on alone states. The worker may get its
   * whole share before the store carries the call out, so it states at least that share.
   */
  get most(): { readonly slots: number; readonly bytes: number } {
    const { slots, bytes } = this.holdings;
    return {
      slots: Math.max(slots.held, slots.used, this.share?.slots ?? 0),
      bytes: Math.max(bytes.held, bytes.used, this.share?.bytes ?? 0),
    };
  }

  /**
   * @param isKept whether the store keeps unused grants for the worker: they are not returned
   * @returns as `Policy.wait`; Infinity: another grant is needed
   */
  waitMs(request: FleetRequest, isKept: boolean, now: number): number {
    const costs = costsOf(request, this.last?.plan);
    const { slots, bytes, credits } = this.holdings;
    this.holdings.expire(now);
    const heldUntil = Math.max(this.heldUntil, this.cappedUntil);
    if (now < heldUntil) return heldUntil - now;
    if (this.isAlone) return this.share?.wait(costs, request, this.holdings, now) ?? 0;
    if (slots.used + request.slots > slots.held) return Number.POSITIVE_INFINITY;
    if (request.bytes > 0 && bytes.used + request.bytes > bytes.held) {
      return Number.POSITIVE_INFINITY;
    }
    const latestAt = now - LATEST_MS;
    if (!isKept && credits.hasStale(latestAt)) {
      this.corrections.giveBack(credits.takeStale(latestAt, placesOf(this.config)));
    }
    return Math.max(0, credits.dueAt(costs) - now);
  }

  /** Whether unused grants cover the costs of a request, now or later. */
  covers(request: FleetRequest): boolean {
    const costs = costsOf(request, this.last?.plan);
    return this.holdings.credits.dueAt(costs) !== Number.POSITIVE_INFINITY;
  }

  take(request: FleetRequest, now: number): void {
    const { slots, bytes, credits } = this.holdings;
    slots.take(request.slots);
    bytes.take(request.bytes);
    const costs = costsOf(request, this.last?.plan);
    if (this.isAlone) this.charge(costs, now);
    else credits.spend(costs);
    this.meter.sent(request, costs, now);
    this.sent += 1;
  }

  /**
   * A request has ended.
   * @param corrections its cost beyond (or below) its charge, by limit
   * @returns whether the worker gives up slots or bytes because other workers wait for them
   */
  giveBack(
    request: FleetRequest,
    corrections: readonly number[] | undefined,
    now: number,
  ): boolean {
    const { slots, bytes } = this.holdings;
    this.holdings.expire(now);
    const held = slots.held + bytes.held;
    slots.giveBack(request.slots);
    bytes.giveBack(request.bytes);
    if (corrections !== undefined) this.charge(corrections, now);
    return slots.held + bytes.held < held;
  }

  /** While the worker goes on alone, only its share is charged. The store never learns of that. */
  charge(amounts: readonly number[], now: number): void {
    if (this.isAlone) this.share?.charge(amounts, now);
    else this.corrections.add(amounts);
  }

  /**
   * Grants that were not used in time are returned with the next call.
   * @returns whether anything that was due is returned: requests may have waited for it
   */
  returnUnused(now: number): boolean {
    const { credits } = this.holdings;
    const stale = credits.takeStale(now - STALE_MS, placesOf(this.config));
    this.corrections.giveBack(stale);
    return stale.some((amount) => amount > 0);
  }

  /** Adds the learned costs of requests like this one to the grants that are due after `now`. */
  coverLearned(request: FleetRequest, now: number): void {
    const costs = costsOf(request, this.last?.plan);
    const learned = costs.map((cost, place) => (place >= this.limits.length ? cost : 0));
    this.holdings.credits.cover(learned, now);
  }

  /** All unused grants are returned with the next call. */
  returnAll(): void {
    const { credits } = this.holdings;
    this.corrections.giveBack(credits.takeStale(Number.POSITIVE_INFINITY, placesOf(this.config)));
  }

  /** Takes out the corrections that the store does not know yet. */
  takeCorrections(): Told {
    return this.corrections.take(placesOf(this.config));
  }

  /** The store did not apply these corrections: they are kept for the next call. */
  untold(corrections: Told): void {
    this.corrections.untold(corrections);
  }

  /** Called when the store has lost its state, with all charges: no charge can be refunded. */
  forgetCharges(): void {
    this.ledger += 1;
    this.corrections.dropReturns();
    this.holdings.credits.clear();
  }

  /** Called when other limits apply. */
  adopt(config: SharedConfig): void {
    this.corrections.rearrange(this.limits, config.limits);
    this.holdings.credits.clear();
    this.meter.costs = [];
    this.config = config;
  }

  /** The store has replied. `receive` takes its grants, once its limits are adopted. */
  heard(reply: GrantReply, sentAt: number, now: number): void {
    const before = this.last?.plan;
    if (before !== undefined && reply.plan !== undefined) {
      // Grants are due when their amounts have flowed in, which takes less time at a higher rate.
      const factors = waitFactors(before, reply.plan);
      this.holdings.credits.rescale(this.limits.length, factors, now);
    }
    this.last = reply;
    const { now: storeNow, run, slowest } = reply;
    this.lagMs = this.times.answered({ storeNow, run, slowest, sentAt, now });
    const isOwn = reply.limit >= 0 && !this.isLearnedShort;
    if (reply.count > 0) this.isLate = Math.max(...reply.until) > 0 && !isOwn;
    this.heldUntil = now + reply.held / 1_000;
    this.holdings.expire(now);
  }

  /**
   * Takes the slots, bytes and amounts of a reply.
   * @param head the first waiting request
   * @param isKept whether it keeps its slots and bytes, even if other workers wait
   */
  receive(reply: GrantReply, head: FleetRequest | undefined, isKept: boolean, now: number): void {
    const { slots, bytes, credits } = this.holdings;
    // After going on alone the worker gets no more than it held, since the store may not know yet
    // how much others hold.
    const isBack = this.standing === 'back';
    this.standing = 'together';
    const heldSlots = isBack ? Math.min(slots.held, reply.slots) : reply.slots;
    const heldBytes = isBack ? Math.min(bytes.held, reply.bytes) : reply.bytes;
    // What was available before the reply waits for nothing, and does not count as late yet.
    const dueAt = reply.until.some((time) => time > 0) ? now + this.lagMs : now;
    const fromAt = reply.from.map((time) => dueAt + time / 1_000);
    const untilAt = reply.until.map((time) => dueAt + Math.max(0, time) / 1_000);
    credits.add(reply.amounts, fromAt, untilAt, reply.count);
    // A request with a reserved time keeps its slots and bytes: without them the time would be lost.
    // One that lacks nothing is sent now.
    const hasReserved = credits.lastDueAt > Number.NEGATIVE_INFINITY;
    const lacksNothing =
      head !== undefined &&
      slots.used + head.slots <= heldSlots &&
      bytes.used + head.bytes <= heldBytes &&
      this.covers(head);
    const isServed = isKept || hasReserved || lacksNothing;
    slots.lent(heldSlots, reply.keptSlots, isServed ? (head?.slots ?? 1) : 0);
    bytes.lent(heldBytes, reply.keptBytes, isServed ? (head?.bytes ?? 0) : 0);
  }

  /** The store is away. @param fullAt when the worker may use its whole share of slots and bytes */
  goAlone(now: number, fullAt: number): void {
    if (this.share === undefined) return;
    this.ledger += 1;
    this.standing = 'alone';
    const { config, holdings, last } = this;
    const { plan, workers = 1 } = last ?? {};
    const slots = this.aloneSlots;
    this.share.begin({ config, slots, plan, workers, pools: holdings, now, fullAt });
    // The share of the worker does not expire until the store replies again.
    holdings.renew(Number.POSITIVE_INFINITY);
  }

  /** Sends nothing before a time. */
  hold(until: number): void {
    this.heldUntil = Math.max(this.heldUntil, until);
  }

  /**
   * A request was rejected. If a cap is learned, no other request takes its place before a plan has
   * counted that: it would be rejected, too.
   */
  rejected(now: number): void {
    if ((this.last?.plan?.slots ?? 0) > 0) this.cappedUntil = now + REACTION_MS;
  }

  /** The store is still away. @returns whether the worker may use its whole share from now on */
  stayAlone(now: number): boolean {
    return this.isAlone && this.share?.failed(this.holdings, now) === true;
  }

  /** The store has replied again. */
  comeBack(): void {
    if (this.share === undefined) return;
    this.ledger += 1;
    this.standing = 'back';
  }
}
