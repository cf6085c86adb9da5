import type { ObservedValueOf } from 'rxjs';
import type { RemoteLimits } from '../fleet/shared-store.ts';
import type { GaugeSnapshot } from '../model/gauge.ts';
import type { Emit, PolicyEvent } from '../model/policy-events.ts';
import { AdaptiveRatePolicy } from '../policies/adaptive-rate-policy.ts';
import type { ByteBudgetPolicy } from '../policies/byte-budget-policy.ts';
import type { ConcurrencyPolicy } from '../policies/concurrency-policy.ts';
import { GatePolicies } from '../policies/gate-policies.ts';
import type { Policies } from '../policies/policies.ts';
import type { Policy, PolicyContext, RequestCost } from '../policies/policy.ts';
import type { CheckedChanges } from '../policies/rate-limit/limit-set.ts';
import type { RateLimit } from '../policies/rate-limit/rate-limit.ts';
import { unknownLimit } from '../policies/rate-limit-policy.ts';
import type { PolicyConfig } from '../policies/registry.ts';
import type { RetryPolicy } from '../policies/retry.ts';
import { Gate } from '../queue/gate.ts';
import type { GateSnapshot } from '../queue/gate-rules.ts';
import type { QueueRules } from '../queue/queue-rules.ts';
import { WeakRegistry } from '../util/collections.ts';
import { ResettableTimer, type Timeouts } from '../util/timers.ts';
import type { FeedbackSubject } from './feedback-subject.ts';
import type { RequestGateParts } from './gate-parts.ts';
import type { DispatchContext, Project, ProjectOutput } from './send-options.ts';
import { type RequestCheck, unknownCost } from './ticket-factory.ts';

/** The gates of all limiters and streams of this process that are open, for inspectors. */
export const openGates = new WeakRegistry<RequestGate>();

/**
 * The one gate of a limiter or a stream, with all its policies as one decision. A request holds a
 * slot and bytes over all its attempts; the backoff and the other policies are asked for each
 * attempt.
 */
export class RequestGate implements RequestCheck {
  /** The name of its limiter, group or stream, if it has one, and its key in a group. */
  readonly name: string | undefined;
  readonly key: string | undefined;
  readonly gate: Gate;
  readonly feedback: FeedbackSubject;
  readonly slots: ConcurrencyPolicy;
  readonly bytes: ByteBudgetPolicy;
  readonly queues: QueueRules;
  /** Its policies. They are also the rules by which answers are read. */
  readonly own: GatePolicies;
  readonly #parts: RequestGateParts;
  readonly #timer: ResettableTimer;
  /** Ends its membership among the gates that send to its provider. */
  readonly #leave: () => void;
  /** Ends its visibility to inspectors and instrumentation. */
  #unwatch: (() => void) | undefined = undefined;
  #isClosed = false;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: PolicyConfig, parts: RequestGateParts) {
    const { clock, instrumentation, feedback, queues } = parts;
    this.#parts = parts;
    this.name = parts.name;
    this.key = parts.key;
    this.feedback = feedback;
    this.queues = queues;
    this.own = new GatePolicies(options, {
      context: () => this.#context(),
      backoff: feedback.gate.policy,
      backoffPart: feedback.partOf(() => this.gate.drain()),
      stored: parts.fleet,
      isSharing: parts.shared !== undefined,
    });
    const { hold, asked } = this.own;
    this.slots = hold.slots;
    this.bytes = hold.bytes;
    const { check, listener } = parts;
    this.gate = new Gate('concurrency', this.#sharing(asked), clock, instrumentation, {
      hold,
      check,
      listener,
      ...queues,
    });
    this.#timer = new ResettableTimer(clock, () => this.changed(), false);
    // This may throw, so it comes before the other parts begin.
    this.fleet?.begin(this);
    this.#leave = feedback.provider.users.join(this.gate, parts.emit, (verdict) =>
      this.own.hear(verdict, clock.now()),
    );
    this.#arm();
  }

  /** The limits that it shares with other workers through a store; undefined if there are none. */
  get fleet(): RemoteLimits | undefined {
    return this.#parts.fleet;
  }

  get policies(): Policies {
    return this.own.all;
  }

  get timeouts(): Timeouts {
    return this.#parts.timeouts;
  }

  get retry(): RetryPolicy {
    return this.#parts.retry;
  }

  /** The queue, with the whole wait that an adaptive rate plans for the next request. */
  queueSnapshot(now: number): GateSnapshot {
    const { waiting, longestWaitMs, nextInMs } = this.gate.snapshot();
    const { adaptive } = this.policies;
    const isPaced = this.gate.nextWaitKind === 'pace' && adaptive instanceof AdaptiveRatePolicy;
    const plannedMs = isPaced ? adaptive.plannedMs(now) : 0;
    return {
      waiting,
      longestWaitMs,
      nextInMs: nextInMs === undefined ? undefined : Math.max(nextInMs, plannedMs),
    };
  }

  /** Changes the rate limits, for waiting requests too. */
  changeLimits(changes: CheckedChanges): void {
    this.own.changeLimits(changes, this.#parts.clock.now());
  }

  /** Adds the first rate limits. @throws RangeError or TypeError that names a wrong value */
  addLimits(limits: Readonly<Record<string, RateLimit>>): void {
    this.own.addLimits(limits, this.#parts.clock.now());
    this.#askAgain();
  }

  /**
   * Replaces or removes the adaptive policy. What was learned is forgotten, and the new policy
   * ignores attempts that are in flight.
   */
  setAdaptive(adaptive: PolicyConfig['adaptive'], concurrency: number): void {
    this.feedback.provider.setOutage(this, false);
    this.own.setAdaptive(adaptive, concurrency);
    this.#askAgain();
    this.#parts.retry.isPaced = this.own.isPaced;
    this.#parts.setPaced(this.own.isPaced);
  }

  /**
   * Called after policies were changed from outside. Resets the timer, and lets all requests pass
   * that may.
   */
  changed(): void {
    this.own.advance(this.#parts.clock.now());
    this.#arm();
    this.gate.drain();
  }

  /**
   * Changes the concurrency; `changed` then lets requests pass. An adaptive limit keeps what it
   * learned, capped by the new value.
   */
  setConcurrency(concurrency: number): void {
    this.own.setConcurrency(concurrency, this.#parts.clock.now());
  }

  /** The context in which requests are sent that have passed this gate. */
  dispatchContextOf<T, O extends ProjectOutput>(
    project: Project<T, O>,
  ): DispatchContext<T, ObservedValueOf<O>> {
    const { retry, classify, clock, random, instrumentation, timeouts } = this.#parts;
    return {
      // An O is an ObservableInput of its values, which TypeScript cannot derive for a generic O.
      project: project as DispatchContext<T, never>['project'],
      feedback: this.feedback,
      gates: [this.gate],
      retry,
      classify,
      answers: this.own,
      clock,
      random,
      instrumentation,
      timeouts,
      tap: this.gate.tap,
    };
  }

  unknownLimit(name: string): Error | undefined {
    const { rateLimit } = this.policies;
    return unknownLimit(name, rateLimit === undefined ? [] : [rateLimit]);
  }

  /** A request of a stream is refused only for names: its limits may change while it waits. */
  refusal(request: RequestCost): Error | undefined {
    return unknownCost(request, this);
  }

  /**
   * Shows the gate to inspectors, and its gauges to its instrumentation, until the gate is closed.
   * Does nothing if it is closed already.
   * @param read returns the values of the gauges, see `gaugesOf`
   */
  watch(read: () => GaugeSnapshot): void {
    if (this.#isClosed) return;
    const { instrumentation } = this.#parts;
    const unlist = openGates.add(this);
    const unwatch = this.feedback.provider.users.watch(instrumentation);
    const close = instrumentation?.opened?.(read);
    this.#unwatch = () => {
      close?.();
      unwatch();
      unlist();
    };
  }

  /** Stops the timer for good. A group closes the gate of an idle key that was closed before. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#leave();
    this.fleet?.close();
    this.#timer.cancel();
    this.feedback.provider.setOutage(this, false);
    this.#unwatch?.();
  }

  /** Makes the gate ask the present policies from now on. */
  #askAgain(): void {
    this.gate.setPolicy(this.#sharing(this.own.asked));
  }

  /** The policies of attempts, joined with limits that other gates of this process share. */
  #sharing(own: Policy): Policy {
    const { shared } = this.#parts;
    return (
      shared?.policyOf(
        own,
        () => this.gate.drain(),
        () => this.gate.waiting,
      ) ?? own
    );
  }

  #context(): Omit<PolicyContext, 'others' | 'mode' | 'maxLimit'> {
    const { clock, random, feedback, isFailure, shared } = this.#parts;
    const report = reporterOf(this.#parts);
    return {
      now: clock.now(),
      random,
      isFailure,
      maxRetryAfterMs: feedback.maxRetryAfterMs,
      timeouts: this.timeouts,
      apply: (limit: number) => {
        this.slots.limit = limit;
        this.gate.drain();
        this.#arm();
      },
      correct: (until: number) => feedback.provider.correct(this.own, until),
      emit: (event: PolicyEvent) => {
        this.#arm();
        if (event.kind === 'outageStarted') feedback.provider.setOutage(this, true);
        else if (event.kind === 'outageEnded') feedback.provider.setOutage(this, false);
        else if (event.kind === 'circuitOpened' || event.kind === 'circuitIsolated')
          this.#clearOpen();
        report(event);
      },
      ignoreUnknown: shared !== undefined,
    };
  }

  /**
   * Fails the waiting requests that may not wait for an open circuit. Runs after the request that
   * opened it has ended.
   */
  #clearOpen(): void {
    queueMicrotask(() => {
      const { circuitBreaker } = this.policies;
      this.gate.clearThose((waiter, now) => circuitBreaker?.refusalInQueue(waiter, now));
    });
  }

  #arm(): void {
    if (this.#isClosed) return;
    const at = this.#parts.clock.now();
    this.#timer.set(this.own.nextChangeAt - at, at);
  }
}

/** Reports every change to the instrumentation and to `emit`. */
export function reporterOf({
  instrumentation,
  emit,
}: Pick<RequestGateParts, 'instrumentation' | 'emit'>): Emit {
  return (event) => {
    instrumentation?.changed?.(event);
    emit?.(event);
  };
}
