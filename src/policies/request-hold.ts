import type { GateKind } from '../model/outcome.ts';
import type { ByteBudgetPolicy } from './byte-budget-policy.ts';
import type { ConcurrencyPolicy } from './concurrency-policy.ts';
import type { Policy, RequestCost } from './policy.ts';

/**
 * The policy of what a request holds from its first attempt to its end, over all retries: a slot and
 * its bytes, both or none.
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
