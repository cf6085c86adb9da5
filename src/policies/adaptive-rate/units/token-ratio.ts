/** The weight of earlier measurements after each further one. */
const MEMORY = 0.98;

/**
 * The ratio of really used to estimated tokens, and the usual number for requests without an
 * estimate.
 */
export class TokenRatio {
  private readonly ofEstimated = new Ratio();
  private readonly ofOthers = new Ratio();

  measured(estimate: number, used: number): void {
    if (estimate > 0) this.ofEstimated.add(estimate, used);
    else this.ofOthers.add(1, used);
  }

  /**
   * The estimate corrected by the ratio; for an estimate of 0 the usual number.
   * @returns undefined if nothing was measured
   */
  expected(estimate: number): number | undefined {
    if (estimate <= 0) return this.ofOthers.value;
    const { value } = this.ofEstimated;
    return value === undefined ? undefined : estimate * value;
  }
}

/** The ratio of two sums that forget slowly. */
class Ratio {
  private of = 0;
  private to = 0;

  /** @returns undefined if nothing was added */
  get value(): number | undefined {
    return this.of > 0 ? this.to / this.of : undefined;
  }

  add(of: number, to: number): void {
    this.of = this.of * MEMORY + of;
    this.to = this.to * MEMORY + to;
  }
}
