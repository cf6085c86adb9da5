import type { FleetSnapshot } from '../fleet/fleet-hooks.ts';
import type { RemoteLimits } from '../fleet/shared-store.ts';
import type { GaugeSnapshot, GaugeValue } from '../model/gauge.ts';
import type { Emit } from '../model/policy-events.ts';
import { checkLimiterConfig } from '../options/check-config.ts';
import { Composite } from '../policies/composite.ts';
import {
  allParts,
  createPolicies,
  hasOption,
  measure,
  type Policies,
  snapshotsOf,
} from '../policies/policies.ts';
import type { CompletedAttempt, RequestCost } from '../policies/policy.ts';
import { type PolicyConfig, type PolicySnapshots, SHARED_KEYS } from '../policies/registry.ts';
import { SharedPolicy } from '../queue/shared-policy.ts';
import { checkChoice, checkKeys } from '../util/check.ts';
import type { Random } from '../util/clock.ts';
import { checkStored, commonGateOf, type SharedLimitsContext } from './group-store.ts';
import { type SharedChanges, sharedChange } from './shared-changes.ts';

/** The cost of a request when keys take turns. */
export type TurnCost = 'requests' | 'tokens' | 'bytes';

/** Limits that all keys of a group share, beside the limits of each key. */
export interface SharedOptions extends Pick<PolicyConfig, (typeof SHARED_KEYS)[number]> {
  /** The greatest number of attempts in flight, an integer >= 1. Default: no bound. */
  readonly concurrency?: number;
  /** Bytes in flight before attempts wait, an integer >= 0. Default: no bound. */
  readonly maxBytes?: number;
  /**
   * The cost of a request when keys take turns: 1, its tokens or its bytes.
   * Default: `'tokens'` if a limit of that name is shared, else `'requests'`.
   */
  readonly cost?: TurnCost;
}

const KEYS = [...SHARED_KEYS, 'cost'] as const satisfies readonly (keyof SharedOptions)[];

const COSTS = {
  requests: () => 1,
  tokens: ({ tokens }) => tokens,
  bytes: ({ bytes }) => bytes,
} as const satisfies Record<TurnCost, (request: RequestCost) => number>;

/** The state of the shared limits. */
export type SharedSnapshot = Partial<PolicySnapshots>;

/** Limits that the gates of all keys share. The gates take turns while one of them binds. */
export class SharedLimits {
  readonly policy: SharedPolicy;
  /** The policies that are on. */
  readonly policies: Partial<Policies>;

  /** The limits that it shares with other processes; undefined if there are none. */
  private readonly fleet: RemoteLimits | undefined;

  /**
   * @throws RangeError or TypeError that names a wrong option
   */
  constructor(
    options: SharedOptions,
    random: Random,
    emit: Emit,
    now: number,
    context: SharedLimitsContext,
  ) {
    checkKeys('shared', options, KEYS);
    const { cost: ownCost, ...limits } = options;
    const { concurrency } = limits;
    checkLimiterConfig('shared', limits, [], 'shared.');
    const policyContext = {
      now,
      random,
      emit,
      maxLimit: Number.POSITIVE_INFINITY,
      maxRetryAfterMs: Number.POSITIVE_INFINITY,
      apply: () => {},
      correct: () => {},
      ignoreUnknown: true,
    };
    const isShared = (definition: { readonly options: object }) => hasOption(definition, limits);
    this.policies = createPolicies(
      { ...limits, ...(concurrency && { throttledConcurrency: concurrency }) },
      policyContext,
      undefined,
      isShared,
    );
    const hasTokens = this.policies.rateLimit?.limits.names.includes('tokens');
    const cost = ownCost ?? (hasTokens ? 'tokens' : 'requests');
    checkChoice('shared.cost', cost, ['requests', 'tokens', 'bytes']);
    if (context.store !== undefined) checkStored('shared', limits);
    this.fleet = context.store?.join(emit, context.instrumentation);
    // The policy of the store stands for the rate limits, too.
    const stored = this.fleet?.policyOf(this.policies.rateLimit);
    this.policy = new SharedPolicy(
      new Composite(allParts(this.policies, stored)),
      COSTS[cost],
      cost === 'tokens' ? (completed) => this.tokensOf(completed) : undefined,
    );
    this.fleet?.begin(commonGateOf(context, this.policies, this.policy));
  }

  /** The shared concurrency limit; undefined if the keys share no slots. */
  get concurrency(): number | undefined {
    return this.policies.concurrency?.limit;
  }

  snapshot(now: number): SharedSnapshot {
    return snapshotsOf(this.policies, now);
  }

  /** The state of this process among those that share these limits. */
  get fleetSnapshot(): FleetSnapshot | undefined {
    return this.fleet?.snapshot();
  }

  /**
   * Checks changes, and makes none.
   * @returns makes them; `configured` then admits requests
   * @throws RangeError or TypeError that names the option
   */
  checkedChange(changes: SharedChanges, now: number): () => void {
    return sharedChange(changes, this.policies, this.fleet, now);
  }

  /** Limits were changed: tells the other processes, and admits every request that may pass. */
  configured(): void {
    this.fleet?.configured();
    this.policy.drain();
  }

  /** The shared limits will not be used any more. */
  close(): void {
    this.fleet?.close();
  }

  /** What an attempt used. A limit that is charged upfront keeps the estimate, and so do turns. */
  private tokensOf({ usage }: CompletedAttempt): number | undefined {
    const rule = this.policies.rateLimit?.limits.find('tokens')?.rule;
    return rule?.charge === 'upfront' ? undefined : usage?.tokens;
  }

  /** The state for gauges. Rate limits have names that differ from those of each key. */
  reading(now: number): GaugeSnapshot {
    const { rateLimit, ...others } = this.policies;
    const { rateUsed, rateLimit: allowed } = measure({ rateLimit }, now);
    const gauges = { rateUsed: named(rateUsed), rateLimit: named(allowed) };
    const shared = measure(others, now);
    const { concurrency: slots, fleet } = this;
    // It is the same in throttled mode.
    if (slots !== undefined) shared.concurrencyLimit = { normal: slots, throttled: slots };
    if (fleet === undefined) return { waiting: [], gauges, shared };
    return { waiting: [['shared', 0]], gauges: { ...gauges, ...fleet.gauges() }, shared };
  }
}

function named(byLimit: GaugeValue = {}): GaugeValue {
  const entries = Object.entries(byLimit);
  return Object.fromEntries(entries.map(([name, value]) => [`shared.${name}`, value]));
}
