import type { Tell } from '../model/facts.ts';
import { isError, print } from '../model/print.ts';
import type { Amounts } from '../model/ticket.ts';
import { type Core, type Demand, type Ended, REFUSED, type Time } from './core.ts';
import type { Costs } from './rate-limit/costs.ts';
import type { RateLimits } from './rate-limit/rate-limits.ts';
import type { RateLimitUsage, Reservation } from './rate-limit/reservation.ts';

/** What becomes of a request that does not fit a rate limit. */
export type OnLimit = 'wait' | 'fail';

/** Limits whose costs are known of each request, and `cost`: what it is expected to cost in money. */
const USUAL: readonly string[] = ['requests', 'tokens', 'bytes', 'cost'];

/** Whether a request may have a cost of this name, be there such a limit or not. */
export function isUsual(name: string): boolean {
  return USUAL.includes(name);
}

/** What a request costs of a limit, where nobody says otherwise: by its place in `USUAL`, as names are slow. */
function expectedOf(usual: number, demand: Demand): number {
  if (usual === 0) return 1;
  if (usual === 1) return demand.tokens;
  return usual === 2 ? demand.bytes : 0;
}

export interface RateCoreOptions {
  readonly onLimit: OnLimit;
  /** Whether the provider does not count what it rejects. */
  readonly refundRejected: boolean;
  /** Whether a request may cost something of limits that are elsewhere. Default false. */
  readonly ignoreUnknown?: boolean;
}

/**
 * Rate limits at a gate: what does not fit waits, exactly as long as the limit that binds needs, or
 * is refused. A charge is settled when its attempt has ended, and refunded if that was never sent.
 */
export class RateCore implements Core<Reservation> {
  readonly limits: RateLimits;
  options: RateCoreOptions;
  /** The limit that the last request which did not fit has to wait for longest. */
  bindingLimit: string | undefined = undefined;
  private readonly tell: Tell;
  /** The place of each limit in `USUAL`, or -1. */
  private readonly usual: readonly number[];
  /** What the last that named no costs was expected to cost. */
  private expected: number[];
  /** The last that was asked for, and what it costs, or why it never passes. */
  private demand: Demand | undefined = undefined;
  private costs: Costs = [];
  private error: Error | undefined = undefined;
  /** Those that did not fit and wait, which everyone has been told of, since the first. */
  private denied: WeakSet<Demand> | undefined = undefined;

  constructor(limits: RateLimits, options: RateCoreOptions, tell: Tell) {
    this.limits = limits;
    this.options = options;
    this.tell = tell;
    this.usual = limits.names.map((name) => USUAL.indexOf(name));
    this.expected = limits.names.map(() => 0);
  }

  get readsUsage(): boolean {
    return this.limits.isSettled('tokens');
  }

  wait(demand: Demand, now: number): number {
    if (demand !== this.demand) this.appraise(demand);
    if (this.error !== undefined) return REFUSED;
    const waitMs = this.limits.wait(this.costs, now);
    if (waitMs === 0) return 0;
    this.bindingLimit = this.limits.binding(this.costs, now);
    const waits = this.options.onLimit === 'wait' && waitMs < Number.POSITIVE_INFINITY;
    if (!this.denied?.has(demand)) this.deny(demand, waits, now);
    return waits ? waitMs : REFUSED;
  }

  /** Why no wait would be enough for a request; undefined: it would. */
  impossible(demand: Demand): Error | undefined {
    if (demand.costs === undefined && this.fits(demand)) return undefined;
    this.appraise(demand);
    return this.error;
  }

  refusal(demand: Demand, now: number): Error {
    // Whoever was told that it does not fit may have sent others here.
    if (demand !== this.demand) this.appraise(demand);
    const error = this.error ?? this.limits.refusal(this.costs, now);
    this.forget(demand);
    return error ?? new TypeError('no rate limit has refused this request');
  }

  take(demand: Demand, now: number): Reservation {
    if (demand !== this.demand) this.appraise(demand);
    const reservation = this.limits.take(this.costs, now);
    this.forget(demand);
    return reservation;
  }

  /** Where the estimate stands, no time is read: most requests end so. */
  giveBack(reservation: Reservation, { isSent, verdict, usage }: Ended, time: Time): void {
    const isFree = verdict?.kind === 'throttled' && this.options.refundRejected;
    if (!isSent || isFree) this.limits.refund(reservation, time.now());
    else if (usage !== undefined || !this.limits.conclude(reservation)) {
      this.limits.settle(reservation, this.known(usage), time.now());
    }
  }

  snapshot(now: number): Readonly<Record<string, RateLimitUsage>> {
    return this.limits.usage(now);
  }

  /** Whether limits are large enough for what is expected: most requests cost no more than that. */
  private fits(demand: Demand): boolean {
    const usual = this.usual;
    for (let index = 0; index < usual.length; index += 1) {
      if (!this.limits.holds(index, expectedOf(usual[index] as number, demand))) return false;
    }
    return true;
  }

  private appraise(demand: Demand): void {
    this.demand = demand;
    this.error = undefined;
    try {
      const { costs } = demand;
      const expected = this.expectedOf(demand);
      const named = costs === undefined ? undefined : this.named(costs);
      this.costs = this.limits.costsFrom(expected, named);
    } catch (error) {
      this.error = isError(error) ? error : new TypeError(print(error));
    }
  }

  /** The same array for requests that cost the same, one after the other. */
  private expectedOf(demand: Demand): Costs {
    const usual = this.usual;
    const last = this.expected;
    let expected = last;
    for (let index = 0; index < usual.length; index += 1) {
      const amount = expectedOf(usual[index] as number, demand);
      if (amount === expected[index]) continue;
      if (expected === last) expected = last.slice();
      expected[index] = amount;
    }
    this.expected = expected;
    return expected;
  }

  private deny(demand: Demand, waits: boolean, at: number): void {
    this.denied ??= new WeakSet();
    this.denied.add(demand);
    const why = this.limits.shortage(this.costs, at);
    if (why === undefined || why.retryAfterMs === Number.POSITIVE_INFINITY) return;
    const { limit, cost, available, retryAfterMs } = why;
    this.tell({ kind: 'limitDenied', at, limit, cost, available, retryAfterMs, waits });
  }

  /** Keeps nothing of a request that has passed: its next attempt is another matter. */
  private forget(demand: Demand): void {
    if (this.demand === demand) this.demand = undefined;
    this.denied?.delete(demand);
  }

  /** Costs of limits of the usual names count for nothing where there is no such limit. */
  private named(costs: Amounts): Amounts {
    const { names } = this.limits;
    const isMeant = (name: string) =>
      names.includes(name) || !(this.options.ignoreUnknown || isUsual(name));
    return Object.fromEntries(Object.entries(costs).filter(([name]) => isMeant(name)));
  }

  /** What was recorded for limits that are not there says nothing here. */
  private known(usage: Amounts | undefined): Amounts | undefined {
    if (usage === undefined) return undefined;
    const { names } = this.limits;
    return Object.fromEntries(Object.entries(usage).filter(([name]) => names.includes(name)));
  }
}
