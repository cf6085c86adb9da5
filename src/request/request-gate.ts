import { ADAPTIVE, isAdaptiveRate } from '../core/adaptive.ts';
import { AdaptiveRateCore } from '../core/adaptive-rate-core.ts';
import type { ByteBudget } from '../core/byte-budget.ts';
import { Composite, type Part } from '../core/composite.ts';
import { ALWAYS_NORMAL, type Core } from '../core/core.ts';
import type { IsFailure } from '../core/judge.ts';
import { PacedCore } from '../core/paced-core.ts';
import { attemptParts, createPolicies, type Policies } from '../core/policies.ts';
import type { PolicyContext } from '../core/policy-definition.ts';
import { rateCoreOf } from '../core/rate-limit/definition.ts';
import { UnknownLimitError } from '../core/rate-limit/errors.ts';
import type { RateLimit } from '../core/rate-limit/rate-limit.ts';
import type { LimitChanges } from '../core/rate-limit/rate-limits.ts';
import type { PolicyConfig } from '../core/registry.ts';
import { RequestHold } from '../core/request-hold.ts';
import { DEFAULT_CONCURRENCY, type Slots } from '../core/slots.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import type { Clock, Random } from '../model/clock.ts';
import type { CoreFact, Tell } from '../model/facts.ts';
import type { Probe } from '../model/probe.ts';
import { Gate } from '../queue/gate.ts';
import type { AdmissionCheck, WaitListener } from '../queue/gate-rules.ts';
import { ResettableTimer } from '../queue/resettable-timer.ts';
import type { SharedPolicy } from '../queue/shared-policy.ts';
import type { AnswerRules } from './dispatch-context.ts';
import type { Queues } from './queue-options.ts';

/** The adaptive rate delays the next attempts for shorter waits itself. */
const PACED_CLOSURE_MS = 2_000;

/** What is around the gate of a limiter or a stream. */
export interface RequestGateParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Undefined: it has none. */
  readonly name: string | undefined;
  readonly probe: Probe | undefined;
  readonly feedback: FeedbackSubject;
  readonly isFailure: IsFailure | undefined;
  readonly queues: Queues;
  readonly extras: RequestGateExtras;
  /** Told whether the rate adapts, when that has changed. */
  readonly setPaced?: (isPaced: boolean) => void;
}

/** What only some who open a gate have to say. */
export interface RequestGateExtras {
  /** The key of a limiter of a group. */
  readonly key?: string;
  /** Whether requests may have priorities. */
  readonly isPrioritized?: boolean;
  /** Told of every change; the probe is told in any case. */
  readonly tell?: Tell;
  /** Limits that other gates share. */
  readonly shared?: SharedPolicy;
  readonly check?: AdmissionCheck;
  readonly listener?: WaitListener;
}

/**
 * The one gate of a limiter or a stream: all of its policies as one decision. A slot and bytes are
 * held by a request over all its attempts; the backoff, and what else is on, is asked for each.
 */
export class RequestGate implements AnswerRules {
  /** The name of its limiter, group or stream, if it has one, and its key in a group. */
  readonly name: string | undefined;
  readonly key: string | undefined;
  readonly gate: Gate;
  readonly feedback: FeedbackSubject;
  readonly slots: Slots;
  readonly bytes: ByteBudget;
  readonly queues: Queues;
  /** Changes with what adapts, as `leastClosureMs` does. */
  readsAnswers = false;
  leastClosureMs = 0;
  private readonly options: PolicyConfig;
  private readonly parts: RequestGateParts;
  private readonly backoff: Core<number>;
  private _policies: Policies;
  /** The policies of attempts that are its own, as one. */
  private own: Core;
  /** Every policy of attempts, for what time alone changes. */
  private timed: Composite;
  private readonly timer: ResettableTimer;
  private isClosed = false;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: PolicyConfig, parts: RequestGateParts) {
    const { clock, probe, feedback, queues, extras } = parts;
    this.options = options;
    this.parts = parts;
    this.name = parts.name;
    this.key = extras.key;
    this.feedback = feedback;
    this.queues = queues;
    const maxLimit = options.concurrency ?? DEFAULT_CONCURRENCY;
    this._policies = createPolicies(options, this.context(maxLimit), feedback.gate.core);
    const { concurrency: slots, byteBudget: bytes, adaptive } = this._policies;
    this.slots = slots;
    this.bytes = bytes;
    slots.most = slots.limit;
    if (adaptive !== undefined) slots.limit = adaptive.limit;
    this.backoff = feedback.partOf(() => this.gate.drain());
    this.timed = this.allPolicies();
    this.own = policyOf(this.backoff, attemptParts(this._policies), this.timed);
    this.learnHowToAnswer();
    const { check, listener, isPrioritized = false } = extras;
    this.gate = new Gate('concurrency', this.sharing(this.own), clock, probe, {
      ...queues.rules(isPrioritized),
      hold: new RequestHold(slots, bytes),
      check,
      listener,
    });
    this.timer = new ResettableTimer(clock, () => this.changed(), false);
    this.arm();
  }

  get policies(): Policies {
    return this._policies;
  }

  /** Whether its rate adapts. */
  get isPaced(): boolean {
    return this._policies.adaptive instanceof AdaptiveRateCore;
  }

  /**
   * Other rate limits from now on, for those too that wait.
   * @throws as `RateLimits.configure` does, and changes nothing
   */
  setLimits(changes: LimitChanges): void {
    const { extras, clock } = this.parts;
    const { rateLimit } = this._policies;
    const now = clock.now();
    if (rateLimit !== undefined) rateLimit.configure(changes, now);
    else {
      const { onLimit, refundRejected } = this.options;
      const limits = newLimits(changes);
      const { tell } = this.context(this.slots.limit);
      const added = rateCoreOf(
        { limits, onLimit, refundRejected },
        tell,
        extras.shared !== undefined,
        now,
      );
      this.setPolicies({ ...this._policies, rateLimit: added });
    }
    this.learnHowToAnswer();
  }

  /** @throws RangeError or TypeError that names a wrong option */
  checkAdaptive(adaptive: PolicyConfig['adaptive'], concurrency: number): void {
    this.newAdaptive(adaptive, concurrency);
  }

  /**
   * Something else adapts from now on, or nothing does: what was learned is forgotten, and what is in
   * flight teaches the new one nothing.
   */
  setAdaptive(adaptive: PolicyConfig['adaptive'], concurrency: number): void {
    const { adaptive: before, pace } = this._policies;
    pace?.interval.reset();
    const next = this.newAdaptive(adaptive, concurrency);
    if (before !== undefined) this.own.retire?.(before);
    this.feedback.setOutage(this, false);
    this.setPolicies({ ...this._policies, adaptive: next });
    this.slots.limit = next?.limit ?? concurrency;
    const mode = this.isPaced ? ALWAYS_NORMAL : this.feedback.modeState;
    this.slots.mode = mode;
    this.bytes.mode = mode;
    this.parts.setPaced?.(this.isPaced);
    this.learnHowToAnswer();
  }

  /** Policies were changed from outside: sets the timer anew, and lets pass all that may. */
  changed(): void {
    this.timed.advance(this.parts.clock.now());
    this.arm();
    this.gate.drain();
  }

  /**
   * Another concurrency from now on; `changed` lets pass who may then. An adaptive limit keeps what it
   * has learned, below it.
   */
  setConcurrency(concurrency: number): void {
    const { adaptive } = this.policies;
    adaptive?.setMaxLimit(concurrency, this.parts.clock.now());
    this.slots.most = concurrency;
    this.slots.limit = adaptive?.limit ?? concurrency;
  }

  /** Disarms what time would change, for good. */
  close(): void {
    this.isClosed = true;
    this.timer.cancel();
    this.feedback.setOutage(this, false);
  }

  private newAdaptive(
    adaptive: PolicyConfig['adaptive'],
    concurrency: number,
  ): Policies['adaptive'] {
    const context = { ...this.context(concurrency), others: this._policies };
    return ADAPTIVE.create?.({ ...(adaptive !== undefined && { adaptive }) }, context);
  }

  private setPolicies(policies: Policies): void {
    this._policies = policies;
    this.timed = this.allPolicies();
    this.own = policyOf(this.backoff, attemptParts(policies), this.timed);
    this.gate.setCore(this.sharing(this.own));
  }

  private allPolicies(): Composite {
    const backoff = { kind: 'backoff', core: this.backoff } as const;
    return new Composite([backoff, ...attemptParts(this._policies)]);
  }

  private sharing(own: Core): Core {
    return this.parts.extras.shared?.coreOf(own, () => this.gate.drain()) ?? own;
  }

  private learnHowToAnswer(): void {
    this.leastClosureMs = this.isPaced ? PACED_CLOSURE_MS : 0;
    const parts = attemptParts(this._policies);
    this.readsAnswers = parts.some(({ core }) => core.readsUsage === true);
  }

  private context(maxLimit: number): Omit<PolicyContext, 'others'> {
    const { clock, random, probe, feedback, isFailure, extras } = this.parts;
    return {
      now: clock.now(),
      random,
      // Throttled mode changes no limits where the rate adapts.
      mode: isAdaptiveRate(this.options.adaptive) ? undefined : feedback.modeState,
      isFailure,
      maxLimit,
      maxRetryAfterMs: feedback.maxRetryAfterMs,
      apply: (limit: number) => {
        this.slots.limit = limit;
        this.gate.drain();
      },
      tell: (fact: CoreFact) => {
        this.arm();
        if (fact.kind === 'outageStarted') feedback.setOutage(this, true);
        else if (fact.kind === 'outageEnded') feedback.setOutage(this, false);
        probe?.changed?.(fact);
        extras.tell?.(fact);
      },
      ignoreUnknown: extras.shared !== undefined,
    };
  }

  private arm(): void {
    if (this.isClosed) return;
    const at = this.parts.clock.now();
    this.timer.set(this.timed.nextChangeAt - at, at);
  }
}

/** By default the rate adapts and nothing else is on: that needs no record of charges. */
function policyOf(backoff: Core<number>, others: readonly Part[], all: Composite): Core {
  const [first, ...more] = others;
  if (first === undefined) return backoff;
  const isAlone = more.length === 0 && first.core instanceof AdaptiveRateCore;
  return isAlone ? new PacedCore(backoff, first.core) : all;
}

/** What is to be added where there are no limits yet. @throws UnknownLimitError for one to be removed */
function newLimits(changes: LimitChanges): Record<string, RateLimit> {
  const limits: Record<string, RateLimit> = {};
  for (const [name, limit] of Object.entries(changes)) {
    if (limit === null) throw new UnknownLimitError(name, []);
    limits[name] = limit;
  }
  return limits;
}
