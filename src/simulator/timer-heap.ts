/** What a {@link TimerHeap} orders: due time first, then the order in which it was set. */
export interface HeapTimer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  /** The place in the heap; -1 when it is in none. */
  index: number;
}

function before(a: HeapTimer, b: HeapTimer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/**
 * A binary heap of timers. Each timer knows its place, so a cancelled one leaves at once
 * and a long test does not collect dead timers. All operations take O(log n).
 */
export class TimerHeap {
  readonly #timers: HeapTimer[] = [];

  get size(): number {
    return this.#timers.length;
  }

  peek(): HeapTimer | undefined {
    return this.#timers[0];
  }

  push(timer: HeapTimer): void {
    this.#place(timer, this.#timers.length);
    this.#up(timer);
  }

  /** Takes a timer out, wherever it stands. One that is in no heap is left alone. */
  remove(timer: HeapTimer): void {
    const at = timer.index;
    if (this.#timers[at] !== timer) return;
    timer.index = -1;
    const last = this.#timers.pop();
    if (last === undefined || last === timer) return;
    this.#place(last, at);
    this.#up(last);
    this.#down(last);
  }

  #place(timer: HeapTimer, index: number): void {
    this.#timers[index] = timer;
    timer.index = index;
  }

  #up(timer: HeapTimer): void {
    while (timer.index > 0) {
      const hole = timer.index;
      const parent = this.#timers[(hole - 1) >> 1];
      if (parent === undefined || !before(timer, parent)) return;
      this.#place(timer, parent.index);
      this.#place(parent, hole);
    }
  }

  #down(timer: HeapTimer): void {
    for (;;) {
      const hole = timer.index;
      const child = this.#smallerChild(hole);
      if (child === undefined || !before(child, timer)) return;
      this.#place(timer, child.index);
      this.#place(child, hole);
    }
  }

  #smallerChild(index: number): HeapTimer | undefined {
    const left = this.#timers[2 * index + 1];
    const right = this.#timers[2 * index + 2];
    return left !== undefined && right !== undefined && before(right, left) ? right : left;
  }
}
