import type { CompletedAttempt, RequestCost } from '../policies/policy.ts';
import type { LimitRule } from '../policies/rate-limit/rate-limit.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import type { FleetRequest } from './fleet-hooks.ts';
import type { SharedLimit } from './protocol.ts';
import { micro } from './shared-limits-config.ts';

/** The weight of the last attempt in a mean. */
const SMOOTHING = 0.1;

/** A request with its charges, and its expected costs, which differ where they are not known. */
export interface ChargedRequest extends FleetRequest {
  /** By limit. */
  readonly expected: readonly number[];
}

/**
 * The charges of requests by the limits of the store, and their corrections. A request is charged
 * before it is sent, even where nothing is expected, or the limit is charged the real usage: the
 * other workers would send on until they hear of it. It is charged the mean of the amounts that
 * answers reported before.
 */
export class FleetCosts {
  private readonly own: RateLimitPolicy | undefined;
  /** The mean real usage of an attempt, by the name of the limit. */
  private readonly means = new Map<string, number>();
  private asked: RequestCost | undefined = undefined;
  private limits: readonly SharedLimit[] | undefined = undefined;
  private request: ChargedRequest = { costs: [], expected: [], slots: 1, bytes: 0, tokens: 0 };

  /** @param own the limits of this worker; the store may have others */
  constructor(own: RateLimitPolicy | undefined) {
    this.own = own;
  }

  /** Drops the last request, which may cost something else when it is asked about again. */
  forget(): void {
    this.asked = undefined;
  }

  /** @param mostSlots a request that takes more is sent alone */
  of(request: RequestCost, limits: readonly SharedLimit[], mostSlots: number): ChargedRequest {
    const slots = Math.min(request.weight ?? 1, mostSlots);
    const isKnown = request === this.asked && limits === this.limits;
    if (isKnown && slots === this.request.slots) return this.request;
    this.asked = request;
    this.limits = limits;
    const known = this.own?.costsOf(request) ?? [];
    const { rules } = this;
    const expected = limits.map(({ name }) => {
      const place = rules.findIndex((rule) => rule.name === name);
      return micro(known[place] ?? request.costs?.[name] ?? usual(name, request));
    });
    this.request = {
      costs: expected.map((cost, place) => this.charged(limits[place]?.name, cost)),
      expected,
      slots,
      bytes: Math.ceil(request.bytes),
      tokens: micro(request.tokens),
    };
    return this.request;
  }

  /**
   * The cost of an attempt minus its charge, by limit; undefined: no correction.
   * @param limits those that were charged
   * @param ageMs how long ago
   */
  corrections(
    { costs, expected }: ChargedRequest,
    limits: readonly SharedLimit[],
    { isSent, verdict, usage }: CompletedAttempt,
    ageMs: number,
  ): readonly number[] | undefined {
    const isFree =
      !isSent || (verdict?.kind === 'throttled' && this.own?.options.refundRejected === true);
    let isCorrected = false;
    const changes = limits.map(({ name }, place) => {
      const rule = this.ruleOf(name);
      const charged = costs[place] as number;
      let used = isFree ? 0 : (expected[place] as number);
      const reported = usage?.[name];
      if (!isFree && reported !== undefined && rule !== undefined && rule.charge !== 'upfront') {
        used = micro(reported);
        const before = this.means.get(name) ?? used;
        this.means.set(name, Math.ceil(before + (used - before) * SMOOTHING));
      }
      if (used !== charged) isCorrected = true;
      return ofWindow(used - charged, rule, ageMs);
    });
    return isCorrected ? changes : undefined;
  }

  private get rules(): readonly LimitRule[] {
    return this.own?.limits.rules ?? [];
  }

  private ruleOf(name: string | undefined): LimitRule | undefined {
    return this.rules.find((rule) => rule.name === name);
  }

  /** The charge of a request before it is sent, by one limit. */
  private charged(name = '', expected: number): number {
    const charge = this.ruleOf(name)?.charge;
    const isGuessed = charge === 'actual' || (charge === 'settle' && expected === 0);
    return isGuessed ? (this.means.get(name) ?? expected) : expected;
  }
}

/**
 * Reduces a refund to the part that the window still holds. A bucket regains a charge in the course
 * of one window: half a window after a charge, half of it is refilled already.
 */
function ofWindow(change: number, rule: LimitRule | undefined, ageMs: number): number {
  if (change >= 0 || rule === undefined || rule.algorithm === 'token-bucket') return change;
  return Math.ceil(change * Math.max(0, 1 - ageMs / rule.windowMs)) + 0;
}

function usual(name: string, { tokens, bytes }: Pick<RequestCost, 'tokens' | 'bytes'>): number {
  if (name === 'requests') return 1;
  if (name === 'tokens') return tokens;
  return name === 'bytes' ? bytes : 0;
}
