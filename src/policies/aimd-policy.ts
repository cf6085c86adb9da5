import type { IsFailure, Verdict } from '../model/feedback.ts';
import type { AimdEvent, Emit } from '../model/policy-events.ts';
import type { Aimd, AimdSnapshot } from './aimd.ts';
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

  /** Records the answer to an attempt that did not pass the gate, as one of the present epoch. */
  recordVerdict(verdict: Verdict, now: number): void {
    if (this.#isFailure(verdict)) this.#changed(this.cooling.failed(now));
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
