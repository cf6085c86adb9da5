import type { Amounts } from '../../model/ticket.ts';
import { isError, print } from '../../util/print.ts';
import type { RequestCost } from '../policy.ts';
import type { Costs } from './limit-set.ts';
import type { RateLimits } from './rate-limits.ts';

/** The limits for which each request has a known cost; `cost` is its expected cost in money. */
const USUAL: readonly string[] = ['requests', 'tokens', 'bytes', 'cost'];

/** Whether a request may have a cost of this name without such a limit. */
export function isUsual(name: string): boolean {
  return USUAL.includes(name);
}

/** The default cost of a request, by the index of the limit in `USUAL`: comparing names is slow. */
function expectedOf(usual: number, request: RequestCost): number {
  if (usual === 0) return 1;
  if (usual === 1) return request.tokens;
  return usual === 2 ? request.bytes : 0;
}

/**
 * The costs of requests by limit. It keeps those of the last request, because a policy asks several
 * times about the same one, and most requests cost the same as the one before.
 */
export class CostsByLimit {
  /** Why the last request can never pass; undefined if it can. */
  error: Error | undefined = undefined;
  readonly #limits: RateLimits;
  readonly #ignoreUnknown: boolean;
  /** The index of each limit in `USUAL`, or -1. */
  #usual: readonly number[] = [];
  /** The expected costs of the last request without given costs. */
  #expected: number[] = [];
  /** The last request, and its costs. */
  #request: RequestCost | undefined = undefined;
  #costs: Costs = [];

  /** @param ignoreUnknown whether a request may have costs of limits that are not here */
  constructor(limits: RateLimits, ignoreUnknown: boolean) {
    this.#limits = limits;
    this.#ignoreUnknown = ignoreUnknown;
    this.reset();
  }

  /**
   * The costs of a request, in the order of `limits.names`. If it can never pass, `error` says why,
   * and the costs are those of another request.
   */
  of(request: RequestCost): Costs {
    if (request !== this.#request) this.#lookUp(request);
    return this.#costs;
  }

  /** The error of a request that no wait is enough for; undefined if a wait is enough. */
  impossible(request: RequestCost): Error | undefined {
    if (request.costs === undefined && this.#fits(request)) return undefined;
    this.#lookUp(request);
    return this.error;
  }

  /** Drops the costs of a request, if they are kept. */
  forget(request: RequestCost): void {
    if (request === this.#request) this.#request = undefined;
  }

  /** The limits have changed. */
  reset(): void {
    const { names } = this.#limits;
    this.#usual = names.map((name) => USUAL.indexOf(name));
    this.#expected = names.map(() => 0);
    this.#request = undefined;
  }

  /** Whether all limits are large enough for the expected costs, which few requests exceed. */
  #fits(request: RequestCost): boolean {
    const usual = this.#usual;
    for (let index = 0; index < usual.length; index += 1) {
      if (!this.#limits.holds(index, expectedOf(usual[index] as number, request))) return false;
    }
    return true;
  }

  #lookUp(request: RequestCost): void {
    this.#request = request;
    this.error = undefined;
    try {
      const { costs } = request;
      const expected = this.#expectedOf(request);
      // The same costs as before, which were found possible.
      if (costs === undefined && expected === this.#costs) return;
      const named = costs === undefined ? undefined : this.#named(costs);
      this.#costs = this.#limits.costsFrom(expected, named);
    } catch (error) {
      this.error = isError(error) ? error : new TypeError(print(error));
    }
  }

  /** Returns the same array for successive requests with equal costs. */
  #expectedOf(request: RequestCost): Costs {
    const usual = this.#usual;
    const last = this.#expected;
    let expected = last;
    for (let index = 0; index < usual.length; index += 1) {
      const amount = expectedOf(usual[index] as number, request);
      if (amount === expected[index]) continue;
      if (expected === last) expected = last.slice();
      expected[index] = amount;
    }
    this.#expected = expected;
    return expected;
  }

  /** Costs with a usual name are ignored if there is no such limit. */
  #named(costs: Amounts): Amounts {
    const { names } = this.#limits;
    const isMeant = (name: string) =>
      names.includes(name) || !(this.#ignoreUnknown || isUsual(name) || this.#limits.knows(name));
    return Object.fromEntries(Object.entries(costs).filter(([name]) => isMeant(name)));
  }
}
