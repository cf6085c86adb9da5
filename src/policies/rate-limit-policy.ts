import type { Emit } from '../model/policy-events.ts';
import type { Amounts } from '../model/ticket.ts';
import { DeniedRequests } from './denied-requests.ts';
import {
  type CompletedAttempt,
  type Policy,
  REFUSED,
  type RequestCost,
  type Time,
} from './policy.ts';
import { CostsByLimit, isUsual } from './rate-limit/costs-by-limit.ts';
import type { CheckedChanges, Costs, RateLimitUsage } from './rate-limit/limit-set.ts';
import { UnknownLimitError } from './rate-limit/rate-limit.ts';
import type { RateLimits } from './rate-limit/rate-limits.ts';
import { Reopening } from './rate-limit/reopening.ts';
import type { Reservation } from './rate-limit/reservation.ts';

/** What happens to a request that does not fit a rate limit. */
export type OnLimit = 'wait' | 'fail';

/** The error of a name that is neither usual nor the name of a present or past limit. */
export function unknownLimit(
  name: string,
  policies: readonly RateLimitPolicy[],
): UnknownLimitError | undefined {
  if (isUsual(name) || policies.some(({ limits }) => limits.knows(name))) return undefined;
  return new UnknownLimitError(
    name,
    policies.flatMap(({ limits }) => limits.names),
  );
}

/** The message that a limit is never charged, and how to correct that. */
export function neverCharged(name: string): string {
  return `\`limits.${name}\` would never be charged: give \`costs\`, or name it \`requests\`, \`tokens\` or \`bytes\``;
}

export interface RateLimitPolicyOptions {
  readonly onLimit: OnLimit;
  /** Whether the provider does not count rejected requests. */
  readonly refundRejected: boolean;
  /** Whether a request may have costs of limits that are not here. Default false. */
  readonly ignoreUnknown?: boolean;
}

/**
 * Rate limits at a gate: a request that does not fit waits exactly as long as the binding limit
 * needs, or is refused. A charge is settled when its attempt has ended, and refunded if it was
 * never sent.
 */
export class RateLimitPolicy implements Policy<Reservation> {
  readonly limits: RateLimits;
  readonly options: RateLimitPolicyOptions;
  /** The binding limit of the last request that did not fit. */
  bindingLimit: string | undefined = undefined;
  readonly #emit: Emit;
  #reopening: Reopening | undefined = undefined;
  readonly #costs: CostsByLimit;
  readonly #denied = new DeniedRequests();

  constructor(limits: RateLimits, options: RateLimitPolicyOptions, emit: Emit) {
    this.limits = limits;
    this.options = options;
    this.#emit = emit;
    this.#costs = new CostsByLimit(limits, options.ignoreUnknown === true);
  }

  /** @param isTested whether one request tests the first end of a window before others follow */
  testReopening(isTested: boolean): void {
    this.#reopening = isTested ? (this.#reopening ?? new Reopening()) : undefined;
  }

  /** Whether a request that is sent now tests the end of a window. */
  isTest(now: number): boolean {
    return this.#reopening?.isTest(now) === true;
  }

  get readsUsage(): boolean {
    return this.limits.isSettled('tokens');
  }

  /** The first limit that requests without `costs` are never charged for. */
  get uncharged(): string | undefined {
    return this.limits.rules.find(({ name, charge }) => charge === 'upfront' && !isUsual(name))
      ?.name;
  }

  /** @throws TypeError if requests without `costs` would never be charged for a limit */
  checkCharged(): void {
    const { uncharged } = this;
    if (uncharged !== undefined) throw new TypeError(neverCharged(uncharged));
  }

  wait(request: RequestCost, now: number): number {
    const costs = this.#costs.of(request);
    if (this.#costs.error !== undefined) return REFUSED;
    const { limits } = this;
    const waitMs = limits.wait(costs, now);
    const mayWait = this.options.onLimit === 'wait';
    if (waitMs === 0) return mayWait ? (this.#reopening?.wait(now) ?? 0) : 0;
    this.bindingLimit = limits.binding(costs, now);
    // Requests wait for a used-up quota, as more may be added to it.
    const waits = mayWait && (waitMs < Number.POSITIVE_INFINITY || !limits.aboveLimit(costs));
    if (this.#denied.add(request)) this.#tellDenial(costs, waits, now);
    return waits ? this.#closed(waitMs, now) : REFUSED;
  }

  /** A request waits for a limit, and for the test of its first end where that is made. */
  #closed(waitMs: number, now: number): number {
    const rule = this.limits.rules.find(({ name }) => name === this.bindingLimit);
    if (this.#reopening === undefined || rule === undefined) return waitMs;
    return this.#reopening.closed(rule, now + waitMs) - now;
  }

  /** The costs of a request that can pass, in the order of `limits.names`. */
  costsOf(request: RequestCost): Costs {
    return this.#costs.of(request);
  }

  /** The error of a request that no wait is enough for; undefined if a wait is enough. */
  impossible(request: RequestCost): Error | undefined {
    return this.#costs.impossible(request);
  }

  refusal(request: RequestCost, now: number): Error {
    // A listener of the denial may have sent other requests here.
    const costs = this.#costs.of(request);
    const error = this.#costs.error ?? this.limits.refusal(costs, now);
    this.#forget(request);
    return error ?? new TypeError('no rate limit has refused this request');
  }

  take(request: RequestCost, now: number): Reservation {
    const costs = this.#costs.of(request);
    const reservation = this.limits.take(costs, now);
    this.#reopening?.sent(reservation, () => this.limits.wait(costs, now) > 0, now);
    this.#forget(request);
    return reservation;
  }

  /** If the estimate was right, as for most requests, the clock is not read. */
  giveBack(
    reservation: Reservation,
    { isSent, verdict, usage }: CompletedAttempt,
    time: Time,
  ): void {
    const isRejected = verdict?.kind === 'throttled';
    this.#reopening?.ended(reservation, isRejected, () => time.now());
    const isFree = isRejected && this.options.refundRejected;
    if (!isSent || isFree) this.limits.refund(reservation, time.now());
    else if (usage !== undefined || !this.limits.conclude(reservation)) {
      this.limits.settle(reservation, known(usage, reservation), time.now());
    }
  }

  /**
   * As `RateLimits.configure`. Also drops the cached costs of requests, which no longer fit the
   * limits.
   */
  configure(changes: CheckedChanges, now: number): void {
    this.limits.configure(changes, now);
    this.#costs.reset();
  }

  snapshot(now: number): Readonly<Record<string, RateLimitUsage>> {
    return this.limits.usage(now);
  }

  #tellDenial(costs: Costs, waits: boolean, at: number): void {
    const why = this.limits.shortage(costs, at);
    if (why === undefined || this.limits.aboveLimit(costs) !== undefined) return;
    const { limit, cost, available, retryAfterMs } = why;
    this.#emit({ kind: 'limitDenied', at, limit, cost, available, retryAfterMs, waits });
  }

  /** Forgets a request that has passed: its next attempt is a new decision. */
  #forget(request: RequestCost): void {
    this.#costs.forget(request);
    this.#denied.forget(request);
  }
}

/** Usage that was recorded for limits without a charge is ignored. */
function known(usage: Amounts | undefined, { owner }: Reservation): Amounts | undefined {
  if (usage === undefined || owner === undefined) return undefined;
  return Object.fromEntries(Object.entries(usage).filter(([name]) => owner.names.includes(name)));
}
