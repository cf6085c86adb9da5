import type { Verdict } from '../model/feedback.ts';
import { ADAPTIVE, isAdaptiveRate } from './adaptive.ts';
import { AdaptiveRatePolicy } from './adaptive-rate-policy.ts';
import { AttemptPolicies } from './attempt-policies.ts';
import type { Backoff } from './backoff.ts';
import { DEFAULT_CONCURRENCY } from './concurrency-policy.ts';
import { createPolicies, type Policies } from './policies.ts';
import { ALWAYS_NORMAL, type Policy, type PolicyContext } from './policy.ts';
import { RequestHold } from './policy-pairs.ts';
import { rateLimitPolicyOf } from './rate-limit/definition.ts';
import type { CheckedChanges } from './rate-limit/limit-set.ts';
import type { RateLimit } from './rate-limit/rate-limit.ts';
import type { RateLimitPolicy } from './rate-limit-policy.ts';
import type { PolicyConfig } from './registry.ts';

/** The adaptive rate handles shorter waits itself, by delaying the next attempts. */
const PACED_CLOSURE_MS = 2_000;

/** Limits that are kept in a store, for several workers. */
interface StoredLimits {
  /**
   * Receives the adaptive policy of this process: before any request is sent, and at each change.
   */
  adapts(adaptive: Policies['adaptive']): void;
  /** Returns a policy for the stored limits and for the rate limits of this worker. */
  policyOf(own: RateLimitPolicy | undefined): Policy;
}

/** The parts that the policies of a gate are made with. */
interface GatePoliciesParts {
  readonly context: () => Omit<PolicyContext, 'others' | 'mode' | 'maxLimit'>;
  /** Other gates may share it. */
  readonly backoff: Backoff;
  /** The backoff as a policy of this gate. */
  readonly backoffPart: Policy<number>;
  readonly stored: StoredLimits | undefined;
  /** Whether limits that it shares may need what answers report. */
  readonly isSharing: boolean;
}

/**
 * The policies of one gate: those that are on, those that it asks for each attempt, and their
 * changes.
 */
export class GatePolicies {
  /** The policy of the resources that a request holds over all its attempts. */
  readonly hold: RequestHold;
  /** Whether successful answers are read for usage and limits. */
  readsAnswers = false;
  /** The shortest wait named by an answer that closes the backoff gate, in ms. */
  leastClosureMs = 0;
  readonly #options: PolicyConfig;
  readonly #parts: GatePoliciesParts;
  readonly #all: Policies;
  #attempts: AttemptPolicies;
  /** The policy of attempts that were sent before the first rate limit was added. */
  #unlimited: Policy | undefined = undefined;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: PolicyConfig, parts: GatePoliciesParts) {
    this.#options = options;
    this.#parts = parts;
    const maxLimit = options.concurrency ?? DEFAULT_CONCURRENCY;
    this.#all = createPolicies(options, this.#contextOf(maxLimit), parts.backoff);
    const { concurrency: slots, byteBudget: bytes, adaptive } = this.#all;
    this.hold = new RequestHold(slots, bytes);
    slots.most = slots.limit;
    parts.stored?.adapts(adaptive);
    if (adaptive !== undefined) slots.limit = adaptive.limit;
    this.#attempts = this.#newAttempts();
    this.#setAnswerRules();
  }

  get all(): Policies {
    return this.#all;
  }

  /**
   * The policy that the gate asks for each attempt. It is replaced when rate limits or the adaptive
   * policy change.
   */
  get asked(): Policy {
    return this.#attempts.asked;
  }

  /** Whether the rate adapts. */
  get isPaced(): boolean {
    return this.#rate !== undefined;
  }

  /** When time alone changes a policy. */
  get nextChangeAt(): number {
    return this.#attempts.all.nextChangeAt;
  }

  /** Makes the changes that are due. */
  advance(now: number): void {
    this.#attempts.all.advance(now);
  }

  /** The meaning of a rejection, according to the adaptive rate. */
  understand(verdict: Verdict): Verdict {
    return this.#rate?.understand(verdict) ?? verdict;
  }

  /** The verdict with its true wait, if waits named earlier have proved too long. */
  corrected(verdict: Verdict): Verdict {
    return this.#rate?.corrected(verdict) ?? verdict;
  }

  /** Another sender received this answer of the provider. */
  hear(verdict: Verdict, now: number): void {
    this.#rate?.hear(verdict, now);
  }

  /** Changes the rate limits, if there are any. */
  changeLimits(changes: CheckedChanges, now: number): void {
    this.#all.rateLimit?.configure(changes, now);
    this.#setAnswerRules();
  }

  /** Adds the first rate limits. @throws RangeError or TypeError that names a wrong value */
  addLimits(limits: Readonly<Record<string, RateLimit>>, now: number): void {
    const { onLimit, refundRejected } = this.#options;
    const { emit, ignoreUnknown } = this.#parts.context();
    const options = { limits, onLimit, refundRejected };
    this.#unlimited = this.asked;
    this.#replace({ rateLimit: rateLimitPolicyOf(options, emit, ignoreUnknown, now) });
  }

  /** @throws RangeError or TypeError that names a wrong option */
  checkAdaptive(adaptive: PolicyConfig['adaptive'], concurrency: number): void {
    this.#newAdaptive(adaptive, concurrency);
  }

  /**
   * Replaces or removes the adaptive policy: what was learned is forgotten, and the new policy
   * learns nothing from attempts in flight.
   */
  setAdaptive(adaptive: PolicyConfig['adaptive'], concurrency: number): void {
    const { adaptive: before, pace } = this.#all;
    pace?.interval.reset();
    const next = this.#newAdaptive(adaptive, concurrency);
    if (before !== undefined) {
      for (const policy of [this.asked, this.#unlimited]) policy?.retire?.(before);
    }
    this.#parts.stored?.adapts(next);
    this.#replace({ adaptive: next });
    const { slots, bytes } = this.hold;
    slots.limit = next?.limit ?? concurrency;
    slots.mode = this.isPaced ? ALWAYS_NORMAL : this.#parts.backoff;
    bytes.mode = slots.mode;
  }

  /** Changes the concurrency. An adaptive limit keeps what it learned, capped by the new value. */
  setConcurrency(concurrency: number, now: number): void {
    const { adaptive } = this.#all;
    const { slots } = this.hold;
    adaptive?.setMaxLimit(concurrency, now);
    slots.most = concurrency;
    slots.limit = adaptive?.limit ?? concurrency;
  }

  /** The adaptive policy, if it adapts the rate. */
  get #rate(): AdaptiveRatePolicy | undefined {
    const { adaptive } = this.#all;
    return adaptive instanceof AdaptiveRatePolicy ? adaptive : undefined;
  }

  /** Keeps the record: an adaptive rate reads the limits from the record that it was made with. */
  #replace(some: Partial<Policies>): void {
    Object.assign(this.#all, some);
    this.#attempts = this.#newAttempts();
    this.#setAnswerRules();
  }

  /** Kept in fields, because they are read for each answer. */
  #setAnswerRules(): void {
    this.leastClosureMs = this.isPaced ? PACED_CLOSURE_MS : 0;
    this.readsAnswers = this.#parts.isSharing || this.#attempts.readsUsage;
  }

  #newAdaptive(adaptive: PolicyConfig['adaptive'], concurrency: number): Policies['adaptive'] {
    const context = { ...this.#contextOf(concurrency), others: this.#all };
    return ADAPTIVE.create?.({ adaptive }, context);
  }

  #newAttempts(): AttemptPolicies {
    this.#all.rateLimit?.testReopening(this.isPaced);
    const { backoffPart, stored } = this.#parts;
    return new AttemptPolicies(this.#all, backoffPart, stored?.policyOf(this.#all.rateLimit));
  }

  #contextOf(maxLimit: number): Omit<PolicyContext, 'others'> {
    // With an adaptive rate, throttled mode does not change limits.
    const mode = isAdaptiveRate(this.#options.adaptive) ? undefined : this.#parts.backoff;
    return { ...this.#parts.context(), mode, maxLimit };
  }
}
