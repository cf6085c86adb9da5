import type { Policies } from '../policies/policies.ts';
import type { Policy, RequestCost } from '../policies/policy.ts';
import { type RateLimitPolicy, unknownLimit } from '../policies/rate-limit-policy.ts';
import { type RequestCheck, unknownCost } from '../request/ticket-factory.ts';

/** Finds the requests that can never be sent, however long they wait. */
export class ImpossibleRequests implements RequestCheck {
  limitsStand = true;
  private readonly sources: () => readonly Partial<Policies>[];
  /** The rate limits, own and shared. */
  private limits: readonly RateLimitPolicy[] = [];
  /** All policies, own or shared, that can find a request impossible. */
  private bounds: readonly Policy[] = [];
  /** The last request that was found possible: calls with equal options share one. */
  private possible: RequestCost | undefined = undefined;

  /** @param sources the present policies: those of the limiter, and those that a group shares */
  constructor(sources: () => readonly Partial<Policies>[]) {
    this.sources = sources;
    this.read();
  }

  /** Limits were added, changed or removed. */
  changed(): void {
    this.limitsStand = false;
    this.possible = undefined;
    this.read();
  }

  private read(): void {
    const sources = this.sources();
    this.limits = sources.flatMap(({ rateLimit }) => (rateLimit === undefined ? [] : [rateLimit]));
    this.bounds = sources
      .flatMap((policies): readonly (Policy | undefined)[] => Object.values(policies))
      .flatMap((policy) => (policy?.impossible === undefined ? [] : [policy]));
  }

  /** The policies that have a limit of this name. */
  limitsOn(name: string): readonly RateLimitPolicy[] {
    return this.limits.filter(({ limits }) => limits.names.includes(name));
  }

  /** The first limit that requests without `costs` are never charged for. */
  get uncharged(): string | undefined {
    return this.limits.find(({ uncharged }) => uncharged !== undefined)?.uncharged;
  }

  /** @throws TypeError for such a limit */
  checkCharged(): void {
    for (const limit of this.limits) limit.checkCharged();
  }

  isPossible(request: RequestCost): boolean {
    if (request === this.possible) return true;
    if (this.refusal(request) !== undefined) return false;
    this.possible = request;
    return true;
  }

  refusal(request: RequestCost): Error | undefined {
    const unknown = unknownCost(request, this);
    if (unknown !== undefined) return unknown;
    for (const policy of this.bounds) {
      const error = policy.impossible?.(request);
      if (error !== undefined) return error;
    }
    return undefined;
  }

  unknownLimit(name: string): Error | undefined {
    return unknownLimit(name, this.limits);
  }
}
