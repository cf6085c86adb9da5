/** Corrections of earlier charges, as a call reports them, by limit. */
export interface Told {
  /** Actual costs minus charges. */
  readonly settled: readonly number[];
  /** Granted amounts that were not used. */
  readonly returned: readonly number[];
}

/** Corrections of earlier charges that are not yet reported to the store. */
export class Corrections {
  private settled: number[] = [];
  private returned: number[] = [];

  /** @param amounts actual costs minus charges, by limit */
  add(amounts: readonly number[]): void {
    addTo(this.settled, amounts);
  }

  /** @param amounts granted amounts that were not used, by limit */
  giveBack(amounts: readonly number[]): void {
    addTo(this.returned, amounts);
  }

  /** The store did not apply these: they are reported with the next call. */
  untold({ settled, returned }: Told): void {
    this.add(settled);
    this.giveBack(returned);
  }

  /** The store has lost the charges that would be refunded: drops the refunds. */
  dropReturns(): void {
    this.settled = this.settled.map((amount) => Math.max(0, amount));
    this.returned = [];
  }

  /** Takes out all corrections. */
  take(places: number): Told {
    const settled = Array.from({ length: places }, (_, place) => this.settled[place] ?? 0);
    const returned = Array.from({ length: places }, (_, place) => this.returned[place] ?? 0);
    this.settled = [];
    this.returned = [];
    return { settled, returned };
  }

  /** Called when other limits apply. Limits that stay keep their corrections. */
  rearrange(before: readonly { name: string }[], after: readonly { name: string }[]): void {
    const places = after.map(({ name }) => before.findIndex((limit) => limit.name === name));
    const { settled, returned } = this;
    this.settled = places.map((place) => settled[place] ?? 0);
    this.returned = places.map((place) => returned[place] ?? 0);
  }
}

function addTo(sums: number[], amounts: readonly number[]): void {
  amounts.forEach((amount, place) => {
    sums[place] = (sums[place] ?? 0) + amount;
  });
}
