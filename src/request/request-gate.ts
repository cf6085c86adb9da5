import { isAdaptiveRate } from '../core/adaptive.ts';
import { AdaptiveRateCore } from '../core/adaptive-rate-core.ts';
import type { ByteBudget } from '../core/byte-budget.ts';
import { Composite, type Part } from '../core/composite.ts';
import type { Core } from '../core/core.ts';
import type { IsFailure } from '../core/judge.ts';
import { PacedCore } from '../core/paced-core.ts';
import { attemptParts, createPolicies, type Policies } from '../core/policies.ts';
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
export class RequestGate {
  /** The name of its limiter, group or stream, if it has one, and its key in a group. */
  readonly name: string | undefined;
  readonly key: string | undefined;
  readonly gate: Gate;
  readonly feedback: FeedbackSubject;
  readonly slots: Slots;
  readonly bytes: ByteBudget;
  readonly policies: Policies;
  readonly queues: Queues;
  /** Whether its rate adapts. */
  readonly isPaced: boolean;
  /** The least wait, named by an answer to its attempts, that closes the backoff, in ms. */
  readonly leastClosureMs: number;
  /** Whether answers that went well are read for what they say of usage and limits. */
  readonly readsAnswers: boolean;
  private readonly clock: Clock;
  /** Every policy of attempts, for what time alone changes. */
  private readonly timed: Composite;
  private readonly timer: ResettableTimer;
  private isClosed = false;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: PolicyConfig, parts: RequestGateParts) {
    const { clock, random, probe, feedback, isFailure, queues, extras } = parts;
    this.clock = clock;
    this.name = parts.name;
    this.key = extras.key;
    this.feedback = feedback;
    this.queues = queues;
    const context = {
      now: clock.now(),
      random,
      // Throttled mode changes no limits where the rate adapts.
      mode: isAdaptiveRate(options.adaptive) ? undefined : feedback.modeState,
      isFailure,
      maxLimit: options.concurrency ?? DEFAULT_CONCURRENCY,
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
    this.policies = createPolicies(options, context, feedback.gate.core);
    const { concurrency: slots, byteBudget: bytes, adaptive } = this.policies;
    this.slots = slots;
    this.bytes = bytes;
    this.isPaced = adaptive instanceof AdaptiveRateCore;
    this.leastClosureMs = this.isPaced ? PACED_CLOSURE_MS : 0;
    slots.most = slots.limit;
    if (adaptive !== undefined) slots.limit = adaptive.limit;
    const backoff = feedback.partOf(() => this.gate.drain());
    const others = attemptParts(this.policies);
    this.readsAnswers = others.some(({ core }) => core.readsUsage === true);
    this.timed = new Composite([{ kind: 'backoff', core: backoff }, ...others]);
    const own = policyOf(backoff, others, this.timed);
    const core = extras.shared?.coreOf(own, () => this.gate.drain()) ?? own;
    const { check, listener, isPrioritized = false } = extras;
    this.gate = new Gate('concurrency', core, clock, probe, {
      ...queues.rules(isPrioritized),
      hold: new RequestHold(slots, bytes),
      check,
      listener,
    });
    this.timer = new ResettableTimer(clock, () => this.changed(), false);
    this.arm();
  }

  /** Policies were changed from outside: sets the timer anew, and lets pass all that may. */
  changed(): void {
    this.timed.advance(this.clock.now());
    this.arm();
    this.gate.drain();
  }

  /**
   * Another concurrency from now on; `changed` lets pass who may then. An adaptive limit keeps what it
   * has learned, below it.
   */
  setConcurrency(concurrency: number): void {
    const { adaptive } = this.policies;
    adaptive?.setMaxLimit(concurrency, this.clock.now());
    this.slots.most = concurrency;
    this.slots.limit = adaptive?.limit ?? concurrency;
  }

  /** Disarms what time would change, for good. */
  close(): void {
    this.isClosed = true;
    this.timer.cancel();
    this.feedback.setOutage(this, false);
  }

  private arm(): void {
    if (this.isClosed) return;
    const at = this.clock.now();
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
