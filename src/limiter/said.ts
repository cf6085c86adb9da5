import type { Amounts } from '../model/ticket.ts';
import type { AcquireOptions } from './limiter-options.ts';

/** What a promise user has said of a request, as it was then: options may be changed and used again. */
export class Said {
  readonly bytes: number;
  readonly tokens: number;
  readonly priority: number;
  readonly costs: Amounts | undefined;

  constructor(bytes: number, tokens: number, priority: number, costs: Amounts | undefined) {
    this.bytes = bytes;
    this.tokens = tokens;
    this.priority = priority;
    this.costs = costs;
  }
}

/** A request of which nothing is said has no size. */
export const NOTHING_SAID = new Said(0, 0, 0, undefined);

/**
 * @param options checked
 * @param tokensOf estimates the tokens of a request by its bytes, where they are not said
 * @param last what was said before: where that is said again, those that wait share one object
 */
export function saidIn(
  { bytes = 0, tokens, priority = 0, costs }: AcquireOptions,
  tokensOf: (bytes: number) => number,
  last: Said,
): Said {
  // Fractions are rounded up, so that sums of sizes stay exact.
  const size = Math.ceil(bytes);
  const amount = Math.ceil(tokens ?? tokensOf(bytes));
  const isSame =
    costs === undefined &&
    last.costs === undefined &&
    last.bytes === size &&
    last.tokens === amount &&
    last.priority === priority;
  return isSame ? last : new Said(size, amount, priority, costs && { ...costs });
}
