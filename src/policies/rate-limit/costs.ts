import { checkAmount, checkInteger, show } from '../../util/check.ts';
import { UnknownLimitError } from './errors.ts';

/** Costs in the order of the limits: integers >= 0. */
export type Costs = readonly number[];

/** Finds the indices of named costs, and checks them. */
export class CostTable {
  private readonly names: readonly string[];
  private readonly places: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.names = names;
    this.places = new Map(names.map((name, index) => [name, index]));
  }

  /** @throws UnknownLimitError that lists the known limits */
  placeOf(name: string): number {
    const place = this.places.get(name);
    if (place === undefined) throw new UnknownLimitError(name, this.names);
    return place;
  }

  /** `amounts` with the named ones replaced, rounded up so that sums stay exact. */
  replaced(amounts: Costs, named: Readonly<Record<string, number>>, what: string): Costs {
    if (typeof named !== 'object' || named === null) {
      throw new TypeError(`\`${what}\` must be an object of numbers, got ${show(named)}`);
    }
    const replaced = amounts.slice();
    for (const name of Object.keys(named)) {
      const place = this.placeOf(name);
      const amount = named[name] as number;
      replaced[place] =
        Number.isSafeInteger(amount) && amount >= 0
          ? amount
          : checkInteger(`${what}.${name}`, checkAmount(`${what}.${name}`, amount), 0);
    }
    return replaced;
  }
}
