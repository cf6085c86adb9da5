import type { IsFailure, Verdict } from '../model/feedback.ts';
import type { AimdEvent, Emit } from '../model/policy-events.ts';
import {
  type Aimd,
  type AimdOptions,
  type AimdSnapshot,
  DEFAULT_CEILING_RESET_FACTOR,
  DEFAULT_COOLING_MS,
  DEFAULT_FAILURE_THRESHOLD,
  DEFAULT_FAILURE_WINDOW_MS,
} from './aimd.ts';
import { integer, number, type Option } from './option.ts';
import type { CompletedAttempt, Policy, RequestCost, Time } from './policy.ts';

/** Watches attempts, and sets the concurrency limit and the interval. It holds no request back. */
export class AimdPolicy implements Policy<number> {
  readonly cooling: Aimd;
  readonly #isFailure: IsFailure;
  readonly #apply: (limit: number) => void;
  readonly #emit: Emit;

  /** @param apply sets the concurrency limit */
  constructor(cooling: Aimd, isFailure: IsFailure, apply: (limit: number) => void, emit: Emit) {
    this.cooling = cooling;
    this.#isFailure = isFailure;
    this.#apply = apply;
    this.#emit = emit;
  }

  get limit(): number {
    return this.cooling.limit;
  }

  setMaxLimit(maxLimit: number, now: number): void {
    this.cooling.setMaxLimit(maxLimit, now);
  }

  get nextChangeAt(): number {
    return this.cooling.nextChangeAt;
  }

  advance(now: number): void {
    this.#changed(this.cooling.advance(now));
  }

  wait(): number {
    return 0;
  }

  /** @returns the epoch in which the attempt is sent, counted from 1 */
  take(_request: RequestCost, _now: number): number {
    return this.cooling.epoch + 1;
  }

  /** Only a failure counts, and needs the clock. */
  giveBack(charge: number, { isSent, verdict }: CompletedAttempt, time: Time): void {
    if (!isSent || verdict === undefined || !this.#isFailure(verdict)) return;
    this.#changed(this.cooling.failed(time.now(), charge - 1));
  }

  /** @param epoch the one in which the attempt was sent. Default: the present one */
  recordVerdict(verdict: Verdict, now: number, epoch?: number): void {
    if (this.#isFailure(verdict)) this.#changed(this.cooling.failed(now, epoch));
  }

  snapshot(now: number): AimdSnapshot {
    return this.cooling.snapshot(now);
  }

  #changed(facts: readonly AimdEvent[]): void {
    if (facts.length === 0) return;
    this.#apply(this.cooling.limit);
    for (const fact of facts) this.#emit(fact);
  }
}

/** The options that no other strategy has. */
export const AIMD_FIELDS = {
  failureThreshold: integer(
    1,
    DEFAULT_FAILURE_THRESHOLD,
    'requests',
    'failures: failures within the window that halve the limit',
  ),
  failureWindowMs: number(
    1,
    DEFAULT_FAILURE_WINDOW_MS,
    'ms',
    'failures: how long a failure counts',
  ),
  coolingMs: number(
    1,
    DEFAULT_COOLING_MS,
    'ms',
    'failures: time between two increases of the limit',
  ),
  ceilingResetFactor: number(
    0,
    DEFAULT_CEILING_RESET_FACTOR,
    '× `coolingMs`',
    'failures: time without failure after which the ceiling is lifted',
  ),
} satisfies Partial<Record<keyof AimdOptions, Option>>;
