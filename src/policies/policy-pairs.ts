import type { Verdict } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import type { AdaptiveRatePolicy } from './adaptive-rate-policy.ts';
import type { ByteBudgetPolicy } from './byte-budget-policy.ts';
import type { ConcurrencyPolicy } from './concurrency-policy.ts';
import type { RateCharge } from './learned-rate.ts';
import type { CompletedAttempt, Policy, RequestCost, Time } from './policy.ts';

/**
 * The policy of the resources that a request holds from its first attempt to its end: a slot
 * and its bytes, both or none.
 *
 * A charge is the number of charged bytes, or -1 - bytes for a request with a throttled slot: one
 * number, which avoids an allocation for each request.
 */
export class RequestHold implements Policy<number> {
  readonly slots: ConcurrencyPolicy;
  readonly bytes: ByteBudgetPolicy;

  constructor(slots: ConcurrencyPolicy, bytes: ByteBudgetPolicy) {
    this.slots = slots;
    this.bytes = bytes;
  }

  get isFull(): boolean {
    return this.slots.isFull || this.bytes.isFull;
  }

  get binding(): GateKind {
    return !this.slots.isFull && this.bytes.isFull ? 'byteBudget' : 'concurrency';
  }

  wait(request: RequestCost, now: number): number {
    return this.bytes.isFull ? Number.POSITIVE_INFINITY : this.slots.wait(request, now);
  }

  take(request: RequestCost, now: number): number {
    const slot = this.slots.take(request, now);
    const bytes = this.bytes.take(request, now);
    return slot > 0 ? bytes : -1 - bytes;
  }

  refusal(request: RequestCost): Error {
    return this.slots.refusal(request);
  }

  giveBack(charge: number, { weight = 1 }: Pick<RequestCost, 'weight'>): void {
    this.bytes.giveBack(charge < 0 ? -1 - charge : charge);
    this.slots.giveBack(charge < 0 ? -weight : weight);
  }

  snapshot(): object {
    return { ...this.slots.snapshot(), ...this.bytes.snapshot() };
  }
}

/** The charge of both, if the request is the backoff's probe. */
class Probing {
  readonly probe: number;
  readonly charge: RateCharge;

  constructor(probe: number, charge: RateCharge) {
    this.probe = probe;
    this.charge = charge;
  }
}

/**
 * The policies of attempts at the defaults: a backoff and an adaptive rate. It acts as a composite
 * of the two, but without allocating a record of charges for each request.
 */
export class PacePolicy implements Policy<RateCharge | Probing> {
  binding: GateKind = 'backoff';
  readonly #backoff: Policy<number>;
  readonly #rate: AdaptiveRatePolicy;
  #isRetired = false;

  constructor(backoff: Policy<number>, rate: AdaptiveRatePolicy) {
    this.#backoff = backoff;
    this.#rate = rate;
  }

  /** Removes the rate: its earlier charges are not given back to it. */
  retire(): void {
    this.#isRetired = true;
  }

  wait(request: RequestCost, now: number): number {
    const closedMs = this.#backoff.wait(request, now);
    const waitMs = this.#rate.wait(request, now);
    if (closedMs >= waitMs) {
      this.binding = 'backoff';
      return closedMs;
    }
    this.binding = this.#rate.binding;
    return waitMs;
  }

  take(request: RequestCost, now: number): RateCharge | Probing {
    const probe = this.#backoff.take(request, now);
    const charge = this.#rate.take(request, now);
    return probe === 0 ? charge : new Probing(probe, charge);
  }

  giveBack(charge: RateCharge | Probing, completed: CompletedAttempt, time: Time): void {
    if (!(charge instanceof Probing)) {
      if (!this.#isRetired) this.#rate.giveBack(charge, completed, time);
      return;
    }
    if (!this.#isRetired) this.#rate.giveBack(charge.charge, completed, time);
    this.#backoff.giveBack(charge.probe, completed, time);
  }

  begun(charge: RateCharge | Probing, verdict: Verdict, time: Time): void {
    if (this.#isRetired) return;
    this.#rate.begun(charge instanceof Probing ? charge.charge : charge, verdict, time);
  }

  snapshot(): object {
    return {};
  }
}
