/** Values of which the plain mean is taken before old ones are forgotten (Netflix: 10). */
const WARM_UP = 10;

/**
 * A mean in which old values fade: after the warm-up each new one weighs 2 / (window + 1), the
 * usual weight of an exponential average over `window` values.
 */
export class ExponentialAverage {
  value = 0;
  private readonly weight: number;
  private count = 0;

  constructor(window: number) {
    this.weight = 2 / (window + 1);
  }

  /** Whether the warm-up is over. */
  get isWarm(): boolean {
    return this.count >= WARM_UP;
  }

  add(value: number): void {
    this.count = Math.min(WARM_UP + 1, this.count + 1);
    const weight = this.count <= WARM_UP ? 1 / this.count : this.weight;
    this.value += (value - this.value) * weight;
  }
}
