/** Corrections of earlier charges, as a call reports them, by limit. */
export interface Told {
  /** Actual costs minus charges. */
  readonly settled: readonly number[];
  /** Granted amounts that were not used in time. */
  readonly returned: readonly number[];
  /** Granted amounts that are given back before they are due. */
  readonly released: readonly number[];
}

const NONE: Told = { settled: [], returned: [], released: [] };

/** Corrections of earlier charges that are not yet reported to the store. */
export class Corrections {
  private told: Told = NONE;

  /** @param amounts actual costs minus charges, by limit */
  add(amounts: readonly number[]): void {
    this.untold({ ...NONE, settled: amounts });
  }

  /** @param amounts granted amounts that were not used in time, by limit */
  giveBack(amounts: readonly number[]): void {
    this.untold({ ...NONE, returned: amounts });
  }

  /** @param amounts granted amounts that are not due yet, by limit */
  release(amounts: readonly number[]): void {
    this.untold({ ...NONE, released: amounts });
  }

  /** The store did not apply these: they are reported with the next call. */
  untold({ settled, returned, released }: Told): void {
    const { told } = this;
    this.told = {
      settled: sumOf(told.settled, settled),
      returned: sumOf(told.returned, returned),
      released: sumOf(told.released, released),
    };
  }

  /** The store has lost the charges that would be refunded: drops the refunds. */
  dropReturns(): void {
    const settled = this.told.settled.map((amount) => Math.max(0, amount));
    this.told = { ...NONE, settled };
  }

  /** Takes out all corrections. */
  take(places: number): Told {
    const told = arranged(
      this.told,
      Array.from({ length: places }, (_, place) => place),
    );
    this.told = NONE;
    return told;
  }

  /** Called when other limits apply. Limits that stay keep their corrections. */
  rearrange(before: readonly { name: string }[], after: readonly { name: string }[]): void {
    const places = after.map(({ name }) => before.findIndex((limit) => limit.name === name));
    this.told = arranged(this.told, places);
  }
}

/** The amounts of these places, in this order. */
function arranged({ settled, returned, released }: Told, places: readonly number[]): Told {
  const at = (amounts: readonly number[]) => places.map((place) => amounts[place] ?? 0);
  return { settled: at(settled), returned: at(returned), released: at(released) };
}

function sumOf(one: readonly number[], other: readonly number[]): readonly number[] {
  if (other.length === 0) return one;
  const places = Math.max(one.length, other.length);
  return Array.from({ length: places }, (_, place) => (one[place] ?? 0) + (other[place] ?? 0));
}
