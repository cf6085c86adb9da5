/** The number of values whose plain mean is used before old values fade (Netflix: 10). */
const WARM_UP = 10;

/**
 * A mean in which old values fade: after the warm-up each new value weighs 2 / (window + 1), the
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
