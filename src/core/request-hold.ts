import type { GateKind } from '../model/outcome.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Core, Demand } from './core.ts';
import { SLOT, SLOT_AND_THROTTLED_SLOT, type Slots } from './slots.ts';

/**
 * What a request holds from its first attempt to its end, over all retries: a slot and its bytes,
 * both or none.
 *
 * A charge is the bytes that were charged; of a request that took a throttled slot, -1 - bytes: one
 * number, since a record would be made for each request.
 */
export class RequestHold implements Core<number> {
  readonly slots: Slots;
  readonly bytes: ByteBudget;

  constructor(slots: Slots, bytes: ByteBudget) {
    this.slots = slots;
    this.bytes = bytes;
  }

  get isFull(): boolean {
    return this.slots.isFull || this.bytes.isFull;
  }

  get binding(): GateKind {
    return !this.slots.isFull && this.bytes.isFull ? 'byteBudget' : 'concurrency';
  }

  wait(demand: Demand, now: number): number {
    return this.bytes.isFull ? Number.POSITIVE_INFINITY : this.slots.wait(demand, now);
  }

  take(demand: Demand, now: number): number {
    const slot = this.slots.take(demand, now);
    const bytes = this.bytes.take(demand, now);
    return slot === SLOT ? bytes : -1 - bytes;
  }

  refusal(demand: Demand): Error {
    return this.slots.refusal(demand);
  }

  giveBack(charge: number, ended: Pick<Demand, 'weight'>): void {
    this.bytes.giveBack(charge < 0 ? -1 - charge : charge);
    this.slots.giveBack(charge < 0 ? SLOT_AND_THROTTLED_SLOT : SLOT, ended);
  }

  snapshot(): object {
    return { ...this.slots.snapshot(), ...this.bytes.snapshot() };
  }
}
