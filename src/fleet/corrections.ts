/** What requests cost more, or less, than they were charged, by limit, until the store is told. */
export class Corrections {
  private amounts: number[] = [];

  /** Whether something goes back to the store. */
  get hasReturns(): boolean {
    return this.amounts.some((amount) => amount < 0);
  }

  add(amounts: readonly number[]): void {
    amounts.forEach((amount, place) => {
      if (amount !== 0) this.amounts[place] = (this.amounts[place] ?? 0) + amount;
    });
  }

  /** What was charged and was not used goes back. */
  giveBack(amounts: readonly number[]): void {
    this.add(amounts.map((amount) => -amount));
  }

  /** Takes out what there is to tell. */
  take(places: number): number[] {
    const taken = Array.from({ length: places }, (_, place) => this.amounts[place] ?? 0);
    this.amounts = [];
    return taken;
  }

  /** Other limits are in force: those that stay keep theirs. */
  rearrange(before: readonly { name: string }[], after: readonly { name: string }[]): void {
    const { amounts } = this;
    this.amounts = after.map(
      ({ name }) => amounts[before.findIndex((limit) => limit.name === name)] ?? 0,
    );
  }
}
