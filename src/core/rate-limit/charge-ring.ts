/** Room of a new ring. It doubles when full and halves when a quarter is used; a power of two. */
const LEAST = 16;
/** Entries are summed in blocks of 1024, so that a search in millions steps over most of them. */
const BLOCK_BITS = 10;
const BLOCK = 1 << BLOCK_BITS;

/**
 * Amounts in the order of their times: 16 bytes for each time, however many amounts it has.
 * Adding and leaving are O(1), amortised.
 */
export class ChargeRing {
  /** The sum of the amounts. */
  total = 0;
  #times = new Float64Array(LEAST);
  #amounts = new Float64Array(LEAST);
  #blocks = new Float64Array(1);
  #head = 0;
  #count = 0;
  /** How many entries have left: the number of the one at the head. */
  #left = 0;

  /** How many times have amounts. */
  get length(): number {
    return this.#count;
  }

  /** How many times there is room for. */
  get room(): number {
    return this.#times.length;
  }

  /** The time at the head of a ring that is not empty. */
  get oldest(): number {
    return this.#times[this.#head] as number;
  }

  /** The time at the tail of a ring that is not empty. */
  get newest(): number {
    return this.#times[this.#slot(this.#count - 1)] as number;
  }

  /** Adds an amount > 0 at a time not before the newest. @returns the number of its entry */
  add(amount: number, time: number): number {
    if (this.#count === 0 || this.newest !== time) {
      if (this.#count === this.room) this.#resize(this.room * 2);
      this.#times[this.#slot(this.#count)] = time;
      this.#count += 1;
    }
    this.#change(this.#slot(this.#count - 1), amount);
    return this.#left + this.#count - 1;
  }

  /** Takes back a part of what was added to an entry; nothing if the entry has left. */
  remove(amount: number, entry: number): void {
    if (entry < this.#left) return;
    this.#change(this.#slot(entry - this.#left), -amount);
    // An empty entry has no owner left, so its number may be used again.
    while (this.#count > 0 && this.#amounts[this.#slot(this.#count - 1)] === 0) this.#count -= 1;
  }

  /** Lets the oldest entry go. */
  shift(): void {
    this.#change(this.#head, -(this.#amounts[this.#head] as number));
    this.#head = this.#slot(1);
    this.#count -= 1;
    this.#left += 1;
  }

  /** Gives back room that is not needed any more. */
  fit(): void {
    if (this.room === LEAST || this.#count * 4 > this.room) return;
    let room = LEAST;
    while (room < this.#count * 2) room *= 2;
    this.#resize(room);
  }

  /** The time of the entry that, with all before it, makes up `amount`: > 0, <= total. */
  timeOf(amount: number): number {
    let slot = this.#head;
    for (let rest = amount; ; ) {
      const sum = slot % BLOCK === 0 ? (this.#blocks[slot >> BLOCK_BITS] as number) : rest;
      if (sum < rest) {
        rest -= sum;
        slot = (slot + BLOCK) & (this.room - 1);
      } else {
        rest -= this.#amounts[slot] as number;
        if (rest <= 0) return this.#times[slot] as number;
        slot = (slot + 1) & (this.room - 1);
      }
    }
  }

  #slot(index: number): number {
    return (this.#head + index) & (this.#times.length - 1);
  }

  #change(slot: number, amount: number): void {
    this.#amounts[slot] = (this.#amounts[slot] as number) + amount;
    const block = slot >> BLOCK_BITS;
    this.#blocks[block] = (this.#blocks[block] as number) + amount;
    this.total += amount;
  }

  #resize(room: number): void {
    const times = new Float64Array(room);
    const amounts = new Float64Array(room);
    const blocks = new Float64Array(Math.ceil(room / BLOCK));
    for (let index = 0; index < this.#count; index += 1) {
      const slot = this.#slot(index);
      const amount = this.#amounts[slot] as number;
      times[index] = this.#times[slot] as number;
      amounts[index] = amount;
      blocks[index >> BLOCK_BITS] = (blocks[index >> BLOCK_BITS] as number) + amount;
    }
    this.#times = times;
    this.#amounts = amounts;
    this.#blocks = blocks;
    this.#head = 0;
  }
}
