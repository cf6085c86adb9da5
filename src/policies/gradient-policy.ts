import { isRejection } from '../model/feedback.ts';
import type { Emit } from '../model/policy-events.ts';
import type { Gradient, GradientSnapshot } from './gradient.ts';
import {
  type CompletedAttempt,
  LEARNED_FOR_MS,
  type Policy,
  type RequestCost,
  type Time,
} from './policy.ts';

/** An attempt in flight. */
interface Sent {
  readonly at: number;
  readonly inFlight: number;
}

/** Watches the latency of attempts, and sets the concurrency limit. It holds no request back. */
export class GradientPolicy implements Policy<Sent> {
  readonly gradient: Gradient;
  readonly #apply: (limit: number) => void;
  readonly #emit: Emit;
  #inFlight = 0;
  /** When the last answer was learned from. */
  #learnedAt = Number.NEGATIVE_INFINITY;

  /** @param apply sets the concurrency limit */
  constructor(gradient: Gradient, apply: (limit: number) => void, emit: Emit) {
    this.gradient = gradient;
    this.#apply = apply;
    this.#emit = emit;
  }

  get readsUsage(): boolean {
    return this.gradient.isPerToken;
  }

  get limit(): number {
    return this.gradient.limit;
  }

  /** Whether nothing is in flight, and nothing learned is worth keeping. */
  isAtRest(now: number): boolean {
    return this.#inFlight === 0 && now - this.#learnedAt >= LEARNED_FOR_MS;
  }

  setMaxLimit(maxLimit: number): void {
    this.gradient.setMaxLimit(maxLimit);
  }

  wait(): number {
    return 0;
  }

  take(_request: RequestCost, now: number): Sent {
    this.#inFlight += 1;
    return { at: now, inFlight: this.#inFlight };
  }

  /** An answer that does not depend on the server's load is ignored. */
  giveBack({ at, inFlight }: Sent, { isSent, verdict, usage }: CompletedAttempt, time: Time): void {
    this.#inFlight -= 1;
    if (!isSent || verdict === undefined) return;
    const dropped = isRejection(verdict);
    if (!dropped && verdict.kind !== 'ok') return;
    const now = time.now();
    this.#learnedAt = now;
    const from = this.gradient.limit;
    const latencyMs = Math.max(0, now - at);
    const to = this.gradient.sample({ latencyMs, inFlight, dropped, tokens: usage?.tokens }, now);
    if (to === from) return;
    this.#apply(to);
    const reason = dropped ? 'rejected' : 'latency';
    this.#emit({ kind: 'limitAdapted', at: now, reason, from, to });
  }

  snapshot(): GradientSnapshot {
    return this.gradient.snapshot();
  }
}
