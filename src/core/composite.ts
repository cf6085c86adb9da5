import type { GateKind } from '../model/outcome.ts';
import { type Core, type Demand, type Ended, REFUSED, type Time } from './core.ts';

/** A core, and what those wait for whom it holds back. */
export interface Part {
  readonly kind: GateKind;
  readonly core: Core;
}

/** One moment for all parts, and read when the first of them asks: clocks are slow. */
class Moment implements Time {
  #time: Time | undefined = undefined;
  #at = 0;

  of(time: Time): this {
    this.#time = time;
    return this;
  }

  now(): number {
    if (this.#time === undefined) return this.#at;
    this.#at = this.#time.now();
    this.#time = undefined;
    return this.#at;
  }
}

/**
 * Several cores that decide as one: a request passes when all let it, and is charged by all or by
 * none. So a charge is never older than the attempt that it stands for.
 */
export class Composite implements Core<readonly unknown[]> {
  binding: GateKind = 'backoff';
  readonly #parts: readonly Part[];
  readonly #moment = new Moment();
  #refuser: Core | undefined = undefined;

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** When time alone changes a part, if nobody asks. */
  get nextChangeAt(): number {
    let at = Number.POSITIVE_INFINITY;
    for (const { core } of this.#parts) at = Math.min(at, core.nextChangeAt ?? at);
    return at;
  }

  /** Does what is due by now. */
  advance(now: number): void {
    for (const { core } of this.#parts) core.advance?.(now);
  }

  /** The longest wait that any part needs. */
  wait(demand: Demand, now: number): number {
    let longestMs = 0;
    for (const { core, kind } of this.#parts) {
      const waitMs = core.wait(demand, now);
      if (waitMs === REFUSED) {
        this.binding = kind;
        this.#refuser = core;
        return REFUSED;
      }
      if (waitMs > longestMs) {
        this.binding = kind;
        longestMs = waitMs;
      }
    }
    return longestMs;
  }

  refusal(demand: Demand, now: number): Error {
    const error = this.#refuser?.refusal?.(demand, now);
    return error ?? new TypeError('nothing has refused this request');
  }

  take(demand: Demand, now: number): readonly unknown[] {
    const charges: unknown[] = [];
    for (const { core } of this.#parts) charges.push(core.take(demand, now));
    return charges;
  }

  /** Last charged, first given back. */
  giveBack(charges: readonly unknown[], ended: Ended, time: Time): void {
    const moment = this.#moment.of(time);
    for (let index = this.#parts.length - 1; index >= 0; index -= 1) {
      const charge = charges[index];
      if (charge !== 0) this.#parts[index]?.core.giveBack(charge, ended, moment);
    }
  }

  snapshot(): object {
    return {};
  }
}
