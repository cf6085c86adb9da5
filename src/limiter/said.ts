import type { Amounts } from '../model/ticket.ts';
import type { AcquireOptions } from './limiter-options.ts';

/**
 * What a promise user has said of a request, as it was then (options may be changed and used again),
 * and the way that it goes.
 */
export class Said<R> {
  readonly route: R;
  readonly bytes: number;
  readonly tokens: number;
  readonly priority: number;
  readonly costs: Amounts | undefined;

  constructor(route: R, bytes = 0, tokens = 0, priority = 0, costs?: Amounts) {
    this.route = route;
    this.bytes = bytes;
    this.tokens = tokens;
    this.priority = priority;
    this.costs = costs;
  }

  /**
   * The same way, with what is said now: this very object, where that is the same as before. So
   * those that wait, of whom the same is said, share one.
   * @param options checked
   * @param tokensOf estimates the tokens of a request by its bytes, where they are not said
   */
  with(
    { bytes = 0, tokens, priority = 0, costs }: AcquireOptions,
    tokensOf: (bytes: number) => number,
  ): Said<R> {
    // Fractions are rounded up, so that sums of sizes stay exact.
    const size = Math.ceil(bytes);
    const amount = Math.ceil(tokens ?? tokensOf(bytes));
    const isSame =
      costs === undefined &&
      this.costs === undefined &&
      this.bytes === size &&
      this.tokens === amount &&
      this.priority === priority;
    return isSame ? this : new Said(this.route, size, amount, priority, costs && { ...costs });
  }
}
