import { costsOf, placesOf } from './amounts.ts';
import { requestsAhead } from './call-schedule.ts';
import type { FleetHooks, FleetRequest } from './fleet-hooks.ts';
import {
  type Demand,
  type ExchangeRequest,
  PROTOCOL,
  type SharedConfig,
  type Shortage,
} from './protocol.ts';
import type { WorkerAccount } from './worker-account.ts';

/**
 * Shortages in which a worker gets no slots or bytes. `recovering`: the store has lost its state.
 */
const WITHOUT_SLOTS: ReadonlySet<Shortage> = new Set(['slots', 'bytes', 'recovering']);

/**
 * Builds the requests of a worker's calls, and remembers what the last one has stated: if the store
 * did not take it over, the next request states it again.
 */
export class ExchangeRequestBuilder {
  /** The last request. */
  last: ExchangeRequest | undefined = undefined;
  /** The number of requests so far. */
  count = 0;
  /** Whether the store knows the configuration. */
  isConfigTold = false;
  private readonly worker: string;
  private readonly account: WorkerAccount;
  private readonly hooks: Pick<FleetHooks, 'waiting' | 'news'>;
  /** When the times in the last request began. */
  private statedAt = 0;
  /** The configuration of the last request. */
  private config: SharedConfig | undefined = undefined;

  constructor(worker: string, account: WorkerAccount, hooks: Pick<FleetHooks, 'waiting' | 'news'>) {
    this.worker = worker;
    this.account = account;
    this.hooks = hooks;
  }

  /** Whether the limits have changed since the last request. */
  get isOutdated(): boolean {
    return this.account.config !== this.config;
  }

  /**
   * Builds the request of a call. Slots and bytes that the worker does not need are returned with
   * it.
   * @param head the first waiting request, if it is known
   * @param isKept whether only limits elsewhere hold that request
   */
  build(
    head: FleetRequest | undefined,
    isKept: boolean,
    isLeaving: boolean,
    now: number,
  ): ExchangeRequest {
    const { account, hooks } = this;
    const { meter, sent, last, config } = account;
    const isSending = sent > (this.last?.sent ?? 0);
    this.count += 1;
    // A request that arrives just now is not in the queue yet.
    const waiting = isLeaving ? 0 : Math.max(hooks.waiting(), head === undefined ? 0 : 1);
    const ahead = isLeaving || !isSending ? 0 : requestsAhead(meter);
    const corrections = account.takeCorrections();
    const news = hooks.news(now);
    const { slots, bytes, credits } = account.holdings;
    const unused = credits.unused(placesOf(config));
    const headSlots = waiting > 0 ? (head?.slots ?? 1) : 0;
    const headBytes = waiting > 0 ? (head?.bytes ?? 0) : 0;
    const neededSlots = waiting === 0 ? 0 : headSlots + (waiting - 1) * meter.slots;
    const neededBytes = waiting === 0 ? 0 : headBytes + (waiting - 1) * meter.bytes;
    // If other workers wait for slots, none is kept for requests expected soon.
    const aheadSlots = last?.contested === 1 ? 0 : ahead * meter.slots;
    // What does not suffice for the first request is returned: other workers may use it.
    const heldSlots = slots.keep(headSlots > slots.free ? 0 : neededSlots + aheadSlots);
    const heldBytes = bytes.keep(headBytes > bytes.free ? 0 : neededBytes + ahead * meter.bytes);
    const wantedSlots = Math.max(0, neededSlots - slots.free);
    const wantedBytes = Math.max(0, neededBytes + ahead * meter.bytes - bytes.free);
    this.config = config;
    this.statedAt = now;
    this.last = {
      protocol: PROTOCOL,
      worker: this.worker,
      sent,
      sequence: this.count,
      run: last?.run ?? 0,
      workers: last?.workers ?? 0,
      took: Math.round(account.tookMs * 1_000),
      epoch: last?.epoch ?? 0,
      ...(this.isConfigTold ? {} : { config }),
      slots: heldSlots,
      alone: 0,
      wantedSlots,
      headSlots: Math.max(0, headSlots - slots.free),
      keeps: isKept && headSlots <= slots.free && headBytes <= bytes.free ? 1 : 0,
      spareSlots: Math.max(0, neededSlots + aheadSlots - slots.free - wantedSlots),
      bytes: heldBytes,
      wantedBytes,
      headBytes: Math.max(0, headBytes - bytes.free),
      unused,
      settled: corrections.settled,
      returned: corrections.returned,
      demand: demandOf(account, head, waiting, ahead, unused),
      closed: news.closed,
      throttled: news.throttled,
      broken: news.broken,
      ...news.lesson,
      leaves: isLeaving ? 1 : 0,
    };
    return this.last;
  }

  /**
   * The request of a repeated call, with what is left of the times in which nothing may be sent. A
   * worker that goes on alone states the most that it may hold before the reply, not what it held
   * when it made the call.
   */
  repeated(request: ExchangeRequest, now: number): ExchangeRequest {
    const { closed, throttled, broken, plan } = request;
    const { isAlone } = this.account;
    const isClosed = closed > 0 || throttled > 0 || broken > 0 || (plan?.closed ?? 0) > 0;
    if (!isAlone && !isClosed) return request;
    const passed = Math.floor((now - this.statedAt) * 1_000);
    const left = (time: number) => Math.max(0, time - passed);
    this.statedAt = now;
    this.last = {
      ...request,
      closed: left(closed),
      throttled: left(throttled),
      broken: left(broken),
      ...(plan !== undefined && { plan: { ...plan, closed: left(plan.closed) } }),
      ...(isAlone && { alone: 1, ...this.account.most }),
    };
    return this.last;
  }

  /** The store did not apply the corrections of the last request: the next one states them again. */
  untold(): void {
    // Under other limits the amounts have other positions.
    if (this.last !== undefined && !this.isOutdated) this.account.untold(this.last);
  }
}

/** The costs of the requests that wait, and of those expected before the next call. */
function demandOf(
  { meter, last, holdings, config }: WorkerAccount,
  head: FleetRequest | undefined,
  waiting: number,
  ahead: number,
  unused: readonly number[],
): Demand[] {
  if (waiting + ahead === 0) return [];
  const headCosts = head && costsOf(head, last?.plan);
  const costs = headCosts === undefined || meter.costs.length > 0 ? meter.costs : headCosts;
  let covered = Number.POSITIVE_INFINITY;
  for (let place = 0; place < costs.length; place += 1) {
    const cost = costs[place] as number;
    if (cost > 0) covered = Math.min(covered, Math.floor((unused[place] ?? 0) / cost));
  }
  if (covered === Number.POSITIVE_INFINITY) {
    const isFree = headCosts === undefined || headCosts.every((cost) => cost === 0);
    if (isFree) return [];
    covered = 0;
  }
  const list: Demand[] = [];
  const places = config.limits.length;
  const tokens = meter.tokens ?? head?.tokens ?? 0;
  // Requests that wait for slots need no rate grant yet.
  const isHeldBack = WITHOUT_SLOTS.has(last?.why ?? '');
  const sendable = isHeldBack ? Math.min(waiting, Math.max(1, holdings.slots.held)) : waiting;
  let needed = Math.max(0, sendable - covered);
  const isCovered = headCosts !== undefined && covers(headCosts, unused);
  if (needed > 0 && headCosts !== undefined && !isCovered) {
    list.push(oneDemand(headCosts, places, head?.tokens ?? 0, 1, 0));
    needed -= 1;
  }
  if (needed > 0) list.push(oneDemand(costs, places, tokens, needed, isCovered ? 2 : 0));
  const spare = Math.max(0, waiting + ahead - Math.max(covered, waiting));
  if (spare > 0) list.push(oneDemand(costs, places, tokens, spare, 1));
  return list;
}

function covers(costs: readonly number[], unused: readonly number[]): boolean {
  return costs.every((cost, place) => cost <= (unused[place] ?? 0));
}

function oneDemand(
  costs: readonly number[],
  places: number,
  tokens: number,
  count: number,
  spare: Demand['spare'],
): Demand {
  const own = Array.from({ length: places }, (_, place) => costs[place] ?? 0);
  return { count, costs: own, tokens, spare };
}
