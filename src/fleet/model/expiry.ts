/** Names with a time each, as a sorted set: the earliest are found first. O(log n) a change. */
export class Expiry {
  private readonly times = new Map<string, number>();
  /** A binary heap by time. An entry whose time has changed since is left where it is, and skipped. */
  private readonly heap: { readonly name: string; readonly at: number }[] = [];

  get size(): number {
    return this.times.size;
  }

  has(name: string): boolean {
    return this.times.has(name);
  }

  set(name: string, at: number): void {
    this.times.set(name, at);
    const { heap } = this;
    heap.push({ name, at });
    for (let index = heap.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.isBefore(index, parent)) break;
      this.swap(index, parent);
      index = parent;
    }
  }

  delete(name: string): void {
    this.times.delete(name);
  }

  clear(): void {
    this.times.clear();
    this.heap.length = 0;
  }

  /** Takes out all whose time is not after `now`. */
  due(now: number): string[] {
    const found: string[] = [];
    const { heap } = this;
    for (let first = heap[0]; first !== undefined && first.at <= now; first = heap[0]) {
      this.shift();
      if (this.times.get(first.name) !== first.at) continue;
      this.times.delete(first.name);
      found.push(first.name);
    }
    return found;
  }

  /** Those of one time are in the order of their names, as in a sorted set of Redis. */
  private isBefore(one: number, other: number): boolean {
    const [a, b] = [this.heap[one], this.heap[other]];
    if (a === undefined || b === undefined) return b === undefined && a !== undefined;
    return a.at === b.at ? a.name < b.name : a.at < b.at;
  }

  private swap(one: number, other: number): void {
    const { heap } = this;
    [heap[one], heap[other]] = [heap[other] as never, heap[one] as never];
  }

  private shift(): void {
    const { heap } = this;
    this.swap(0, heap.length - 1);
    heap.pop();
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const least = this.isBefore(left + 1, left) ? left + 1 : left;
      if (!this.isBefore(least, index)) break;
      this.swap(index, least);
      index = least;
    }
  }
}
