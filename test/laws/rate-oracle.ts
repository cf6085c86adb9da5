import type { RateLimit } from '../../src/policies/rate-limit/rate-limit.ts';

/** The rounding error of a bucket. */
const NEARLY = 1e-6;

/** Something that was charged, and is counted as the algorithm says. */
export interface Charge {
  readonly at: number;
  amount: number;
  readonly window: number;
}

/** One rate limit by its definition: a list of all that was ever charged. */
export class RateOracle {
  limit: number;
  readonly rule: RateLimit;
  readonly #charges: Charge[] = [];
  #window = 0;
  #windowAt = 0;
  #level: number;
  #levelAt = 0;

  constructor(rule: RateLimit) {
    this.rule = rule;
    this.limit = rule.limit;
    this.#level = this.burst;
  }

  get burst(): number {
    return this.rule.burst ?? this.limit;
  }

  get mode(): NonNullable<RateLimit['charge']> {
    return this.rule.charge ?? 'upfront';
  }

  /** The charges that count now. */
  used(now: number): number {
    const { algorithm = 'sliding-window', windowMs } = this.rule;
    if (algorithm === 'token-bucket') return this.burst - this.#fill(now);
    const counts = ({ at, window }: Charge) =>
      algorithm === 'sliding-window'
        ? now < at + windowMs
        : window === this.#window && now < this.#windowAt + windowMs;
    return this.#charges.filter(counts).reduce((sum, { amount }) => sum + amount, 0);
  }

  charge(amount: number, now: number): Charge {
    if (amount > 0 && this.used(now) === 0) {
      this.#window += 1;
      this.#windowAt = now;
    }
    const charge = { at: now, amount, window: this.#window };
    this.#charges.push(charge);
    this.#level = this.#fill(now) - amount;
    return charge;
  }

  giveBack(charge: Charge, amount: number, now: number): void {
    charge.amount -= amount;
    this.#level = Math.min(this.burst, this.#fill(now) + amount);
  }

  /** Whether the limit was kept. */
  isKept(now: number): boolean {
    const most = this.rule.algorithm === 'token-bucket' ? this.burst : this.limit;
    return this.used(now) <= most + NEARLY;
  }

  resize(limit: number, now: number): void {
    const used = this.used(now);
    this.limit = limit;
    if (this.rule.algorithm === 'token-bucket') this.#level = this.burst - used;
  }

  #fill(now: number): number {
    const filled = ((now - this.#levelAt) * this.limit) / this.rule.windowMs;
    this.#level = Math.min(this.burst, this.#level + filled);
    this.#levelAt = now;
    return this.#level;
  }
}
