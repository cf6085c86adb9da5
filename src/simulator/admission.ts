import type { Random } from '../util/clock.ts';
import { type Charges, LimitSet, type LimitStatus } from './limits/limit-set.ts';
import { Capacity, type TokenCounts } from './limits/limit-state.ts';
import type { ProviderOptions, StormOptions } from './provider-options.ts';
import type { AnswerKind } from './provider-types.ts';

/** Why a request is rejected, as the answer will report it. */
export interface Refusal {
  readonly status: number;
  readonly kind: AnswerKind;
  readonly code: string;
  readonly message: string;
  /** The name under which the statistics count it. */
  readonly by: string;
  readonly limit?: string;
  readonly retryAfterMs?: number;
}

/** The fields of a request that admission checks. */
export interface Applicant {
  readonly inputTokens: number;
  readonly maxTokens: number;
  readonly apiKey?: string | undefined;
}

/** How a client should treat a status that is not 2xx. */
export function kindOfStatus(status: number): AnswerKind {
  if (status === 429) return 'throttled';
  if (status === 503 || status === 529) return 'overloaded';
  return status >= 500 || status === 408 || status === 409 || status === 0 ? 'failed' : 'fatal';
}

/** Merges overlapping storms, so that a moment in two storms counts once. */
function mergeStorms(storms: readonly StormOptions[]): { fromMs: number; toMs: number }[] {
  const merged: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of [...storms].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = merged.at(-1);
    if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs);
    else merged.push({ fromMs, toMs });
  }
  return merged;
}

/**
 * Decides which requests are admitted. It checks keys, storms, quota, units and limits, in that
 * order. A pure state machine; times are milliseconds since the provider's start.
 */
export class Admission {
  readonly #options: ProviderOptions;
  readonly #capacity: Capacity;
  readonly #limits: LimitSet;
  readonly #random: Random;
  #quotaRequests = 0;
  #quotaTokens = 0;

  constructor(options: ProviderOptions, random: Random) {
    this.#options = options;
    this.#capacity = new Capacity(options.capacity);
    this.#limits = new LimitSet(options.limits ?? [], this.#capacity);
    this.#random = random;
  }

  /** Whether a key is accepted. If no keys are configured, every request is. */
  knows(apiKey: string | undefined): boolean {
    const { apiKeys } = this.#options;
    return apiKeys === undefined || (apiKey !== undefined && apiKeys.includes(apiKey));
  }

  /** The reason to reject a request. If there is none, charge it in the same turn. */
  refuse(nowMs: number, applicant: Applicant, unitsHaveRoom: boolean): Refusal | undefined {
    return (
      this.#refuseKey(applicant) ??
      this.#refuseInStorm(nowMs) ??
      this.#refuseForQuota() ??
      (unitsHaveRoom ? undefined : this.#refuseForUnits()) ??
      this.#refuseForLimits(nowMs, applicant)
    );
  }

  /** As `Provider.waitMs`. Keys and quota are not checked, since waiting does not change them. */
  waitMs(nowMs: number, applicant: Applicant, unitsHaveRoom: boolean): number {
    const storm = mergeStorms(this.#options.storms ?? []).find(
      ({ fromMs, toMs }) => fromMs <= nowMs && nowMs < toMs,
    );
    const stormMs = storm === undefined ? 0 : storm.toMs - nowMs;
    const limits = this.#limits.check(nowMs, applicant.inputTokens, applicant.maxTokens);
    return Math.max(stormMs, limits?.waitMs ?? 0, unitsHaveRoom ? 0 : 1);
  }

  charge(nowMs: number, applicant: Applicant): Charges {
    this.#quotaRequests++;
    return this.#limits.charge(nowMs, applicant.inputTokens, applicant.maxTokens);
  }

  settle(nowMs: number, charges: Charges, used: TokenCounts): void {
    this.#quotaTokens += used.inputTokens + used.outputTokens;
    this.#limits.settle(nowMs, charges, used);
  }

  status(nowMs: number): LimitStatus[] {
    return this.#limits.status(nowMs);
  }

  /** The amount of a unit that the limits have allowed by now, beyond their initial burst. */
  allowed(unit: 'requests' | 'tokens', nowMs: number): number {
    const fullMs = this.#openTimes(nowMs).reduce(
      (sum, [fromMs, toMs]) => sum + this.#capacity.integral(fromMs, toMs),
      0,
    );
    return this.#limits.allowed(unit, fullMs);
  }

  /** Milliseconds by now that were not in a storm. */
  openMs(nowMs: number): number {
    return this.#openTimes(nowMs).reduce((sum, [fromMs, toMs]) => sum + toMs - fromMs, 0);
  }

  #openTimes(nowMs: number): [number, number][] {
    const times: [number, number][] = [];
    let fromMs = 0;
    for (const storm of mergeStorms(this.#options.storms ?? [])) {
      times.push([fromMs, Math.min(storm.fromMs, nowMs)]);
      fromMs = storm.toMs;
    }
    times.push([fromMs, nowMs]);
    return times.filter(([start, end]) => end > start);
  }

  #refuseKey({ apiKey }: Applicant): Refusal | undefined {
    if (this.knows(apiKey)) return undefined;
    const message = apiKey === undefined ? 'No API key was given.' : 'The API key is not known.';
    return { status: 401, kind: 'fatal', code: 'invalid_api_key', message, by: 'key' };
  }

  #refuseInStorm(nowMs: number): Refusal | undefined {
    const storm = this.#options.storms?.find(({ fromMs, toMs }) => fromMs <= nowMs && nowMs < toMs);
    if (storm === undefined) return undefined;
    const { status = 503, retryAfterMs } = storm;
    return {
      status,
      kind: kindOfStatus(status),
      code: status === 429 ? 'rate_limit_exceeded' : 'service_unavailable',
      message: 'The service is not available.',
      by: 'storm',
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }

  #refuseForQuota(): Refusal | undefined {
    const { requests = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY } =
      this.#options.quota ?? {};
    if (this.#quotaRequests < requests && this.#quotaTokens < tokens) return undefined;
    const message = 'The quota is used up; check plan and billing.';
    return { status: 429, kind: 'fatal', code: 'insufficient_quota', message, by: 'quota' };
  }

  #refuseForUnits(): Refusal {
    const status = this.#options.concurrency?.status ?? 503;
    const code = status === 429 ? 'rate_limit_exceeded' : 'overloaded';
    const message = 'The model is overloaded with requests.';
    // When a unit will be free is not known, so only a constant wait can be named.
    const retryAfterMs = this.#toldWait(Number.POSITIVE_INFINITY);
    return {
      status,
      kind: kindOfStatus(status),
      code,
      message,
      by: 'concurrency',
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }

  #refuseForLimits(nowMs: number, { inputTokens, maxTokens }: Applicant): Refusal | undefined {
    const refusal = this.#limits.check(nowMs, inputTokens, maxTokens);
    if (refusal === undefined) return undefined;
    if (this.#options.countRejected) this.#limits.penalise(nowMs);
    const { limit, waitMs } = this.#limits.check(nowMs, inputTokens, maxTokens) ?? refusal;
    const retryAfterMs = this.#toldWait(waitMs);
    const message = Number.isFinite(waitMs)
      ? `Rate limit reached for ${limit}.`
      : `Rate limit reached for ${limit}; no wait would be enough.`;
    return {
      status: 429,
      kind: 'throttled',
      code: 'rate_limit_exceeded',
      message,
      by: limit,
      limit,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }

  #toldWait(waitMs: number): number | undefined {
    const { retryAfter = 'exact' } = this.#options;
    if (typeof retryAfter === 'number') return retryAfter;
    if (retryAfter === 'none' || !Number.isFinite(waitMs)) return undefined;
    return retryAfter === 'exact' ? waitMs : waitMs * 2 * this.#random();
  }
}
