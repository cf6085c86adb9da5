/** What was charged to a sliding window, and when. */
export interface Entry {
  readonly at: number;
  amount: number;
  /** Charged because it turned out to be more than expected. */
  readonly isDebt: boolean;
}

/** Exact: every number that the tests use is a multiple of 2^-60. */
function exactly(ms: number): bigint {
  return BigInt(ms * 2 ** 60);
}

/** Brute force: whether both times are in one interval `(t, t + windowMs]`. */
export function shareWindow(early: number, late: number, windowMs: number): boolean {
  return exactly(late) - exactly(early) < exactly(windowMs);
}

/** A log that is never cut and always summed anew. */
export class Oracle {
  readonly entries: Entry[] = [];
  readonly #limit: number;
  readonly #windowMs: number;

  constructor({ limit, windowMs }: { limit: number; windowMs: number }) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  used(now: number): number {
    return this.entries
      .filter(({ at }) => shareWindow(at, now, this.#windowMs))
      .reduce((sum, { amount }) => sum + amount, 0);
  }

  fits(cost: number, now: number): boolean {
    return this.used(now) + cost <= this.#limit;
  }

  charge(amount: number, at: number, isDebt = false): Entry {
    const entry = { at, amount, isDebt };
    this.entries.push(entry);
    return entry;
  }

  /** The most that any interval of a window's length holds, debts left out. */
  fullest(): number {
    let most = 0;
    for (const { at: end } of this.entries) {
      const sum = this.entries
        .filter(({ at, isDebt }) => !isDebt && at <= end && shareWindow(at, end, this.#windowMs))
        .reduce((total, { amount }) => total + amount, 0);
      most = Math.max(most, sum);
    }
    return most;
  }
}
