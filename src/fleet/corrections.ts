/** What there is to tell the store of earlier charges, by limit. */
export interface Told {
  /** What requests cost more, or less, than they were charged. */
  readonly settled: readonly number[];
  /** What was granted and was not used. */
  readonly returned: readonly number[];
}

/** Corrections of earlier charges, until the store is told. */
export class Corrections {
  private settled: number[] = [];
  private returned: number[] = [];

  /** Whether something goes back to the store. */
  get hasReturns(): boolean {
    return this.settled.some((amount) => amount < 0) || this.returned.some((amount) => amount > 0);
  }

  /** Requests have cost more than they were charged, or less. */
  add(amounts: readonly number[]): void {
    addTo(this.settled, amounts);
  }

  /** What was charged and was not used goes back. */
  giveBack(amounts: readonly number[]): void {
    addTo(this.returned, amounts);
  }

  /** The store was not told after all. */
  untold({ settled, returned }: Told): void {
    this.add(settled);
    this.giveBack(returned);
  }

  /** What would go back was charged by a store that has forgotten it. */
  dropReturns(): void {
    this.settled = this.settled.map((amount) => Math.max(0, amount));
    this.returned = [];
  }

  /** Takes out what there is to tell. */
  take(places: number): Told {
    const settled = Array.from({ length: places }, (_, place) => this.settled[place] ?? 0);
    const returned = Array.from({ length: places }, (_, place) => this.returned[place] ?? 0);
    this.settled = [];
    this.returned = [];
    return { settled, returned };
  }

  /** Other limits are in force: those that stay keep theirs. */
  rearrange(before: readonly { name: string }[], after: readonly { name: string }[]): void {
    const places = after.map(({ name }) => before.findIndex((limit) => limit.name === name));
    const { settled, returned } = this;
    this.settled = places.map((place) => settled[place] ?? 0);
    this.returned = places.map((place) => returned[place] ?? 0);
  }
}

function addTo(sums: number[], amounts: readonly number[]): void {
  amounts.forEach((amount, place) => {
    if (amount !== 0) sums[place] = (sums[place] ?? 0) + amount;
  });
}
