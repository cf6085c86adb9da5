import type { ConcurrencyOptions } from './provider-options.ts';

/** A request that waits for a unit or holds one. Only the pool writes `state`. */
export interface PoolEntry {
  state: 'waiting' | 'serving' | 'gone';
  /** A unit starts the request. Must not throw. */
  start(): void;
}

/** The queue is compacted from this length on, if half of its entries are started or cancelled. */
const COMPACT_FROM = 64;

/** Units that work in parallel, and the queue before them: first in, first out. */
export class UnitPool {
  readonly #units: number;
  readonly #queueCap: number;
  #queue: PoolEntry[] = [];
  #head = 0;
  #waiting = 0;
  #serving = 0;
  #starting = false;

  constructor({ units, queue }: Pick<ConcurrencyOptions, 'units' | 'queue'>) {
    this.#units = units;
    this.#queueCap = queue ?? Number.POSITIVE_INFINITY;
  }

  get waiting(): number {
    return this.#waiting;
  }

  hasRoom(): boolean {
    return this.#serving + this.#waiting < this.#units + this.#queueCap;
  }

  /** Starts the entry as soon as a unit is free, maybe before this returns. */
  enter(entry: PoolEntry): void {
    entry.state = 'waiting';
    this.#queue.push(entry);
    this.#waiting++;
    this.#startNext();
  }

  /** Gives the unit back, or leaves the queue. A second call has no effect. */
  leave(entry: PoolEntry): void {
    if (entry.state === 'waiting') this.#waiting--;
    if (entry.state === 'serving') this.#serving--;
    entry.state = 'gone';
    this.#startNext();
  }

  #startNext(): void {
    if (this.#starting) return;
    this.#starting = true;
    try {
      while (this.#waiting > 0 && this.#serving < this.#units) this.#start();
    } finally {
      this.#starting = false;
    }
    this.#compact();
  }

  #start(): void {
    const entry = this.#queue[this.#head];
    this.#head++;
    if (entry?.state !== 'waiting') return;
    this.#waiting--;
    this.#serving++;
    entry.state = 'serving';
    entry.start();
  }

  #compact(): void {
    if (this.#waiting === 0) {
      this.#queue.length = 0;
      this.#head = 0;
    } else if (this.#queue.length >= COMPACT_FROM && this.#waiting * 2 <= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head).filter(({ state }) => state === 'waiting');
      this.#head = 0;
    }
  }
}
