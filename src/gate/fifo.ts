const LEAST = 16;

/**
 * First in, first out: three ring buffers side by side, one for what waits, one for whom it waits
 * for, one for since when. A waiter costs 24 bytes and no object of its own.
 *
 * Waiters may die in the queue. They are counted with `bury` and skipped when their turn comes;
 * when the dead outnumber the living the rings are laid anew. Everything is O(1), amortised.
 */
export class Fifo<Item, Owner> {
  readonly #isDead: (item: Item, owner: Owner) => boolean;
  #items: (Item | undefined)[] = new Array(LEAST).fill(undefined);
  #owners: (Owner | undefined)[] = new Array(LEAST).fill(undefined);
  #since = new Float64Array(LEAST);
  /** Head and tail count up; their place in the rings is the rest modulo the size, a power of two. */
  #head = 0;
  #tail = 0;
  #dead = 0;

  constructor(isDead: (item: Item, owner: Owner) => boolean) {
    this.#isDead = isDead;
  }

  /** How many wait, the dead not counted. */
  get length(): number {
    return this.#tail - this.#head - this.#dead;
  }

  push(item: Item, owner: Owner, since: number): void {
    if (this.#tail - this.#head === this.#items.length) this.#lay();
    const at = this.#tail & (this.#items.length - 1);
    this.#items[at] = item;
    this.#owners[at] = owner;
    this.#since[at] = since;
    this.#tail += 1;
  }

  /** Brings the living one that waits longest to the head. @returns false if there is none */
  seek(): boolean {
    while (this.#head < this.#tail) {
      if (this.#dead === 0) return true;
      const at = this.#head & (this.#items.length - 1);
      if (!this.#isDead(this.#items[at] as Item, this.#owners[at] as Owner)) return true;
      this.#drop(at);
      this.#dead -= 1;
    }
    return false;
  }

  /** The head, after `seek` has found one; what it waits for; and since when. */
  get item(): Item {
    return this.#items[this.#head & (this.#items.length - 1)] as Item;
  }

  get owner(): Owner {
    return this.#owners[this.#head & (this.#items.length - 1)] as Owner;
  }

  get since(): number {
    return this.#since[this.#head & (this.#items.length - 1)] as number;
  }

  /** Puts something else in the place of the head. */
  replace(item: Item): void {
    this.#items[this.#head & (this.#items.length - 1)] = item;
  }

  /** Takes the head out. */
  shift(): void {
    this.#drop(this.#head & (this.#items.length - 1));
    if (this.#items.length > LEAST && this.#tail - this.#head < this.#items.length >> 2)
      this.#lay();
  }

  /** So many of those that wait have died since the last call. */
  bury(count: number): void {
    this.#dead += count;
    if (this.#dead > LEAST && this.#dead > this.length) this.#lay();
  }

  #drop(at: number): void {
    this.#items[at] = undefined;
    this.#owners[at] = undefined;
    this.#head += 1;
  }

  /** Lays the rings anew: the living alone, and room for as many again. */
  #lay(): void {
    const mask = this.#items.length - 1;
    let size = LEAST;
    while (size < this.length * 2) size *= 2;
    const items = new Array<Item | undefined>(size).fill(undefined);
    const owners = new Array<Owner | undefined>(size).fill(undefined);
    const since = new Float64Array(size);
    let tail = 0;
    for (let from = this.#head; from < this.#tail; from += 1) {
      const at = from & mask;
      const item = this.#items[at] as Item;
      const owner = this.#owners[at] as Owner;
      if (this.#dead > 0 && this.#isDead(item, owner)) continue;
      items[tail] = item;
      owners[tail] = owner;
      since[tail] = this.#since[at] as number;
      tail += 1;
    }
    this.#items = items;
    this.#owners = owners;
    this.#since = since;
    this.#head = 0;
    this.#tail = tail;
    this.#dead = 0;
  }
}
