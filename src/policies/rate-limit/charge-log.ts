/** The capacity of a new log. It doubles up to that of a block. */
const LEAST = 16;
/** Entries are summed in blocks of 1024, so that a search in millions steps over most of them. */
const BLOCK_BITS = 10;
const BLOCK = 1 << BLOCK_BITS;

/** Entries as pairs of time and amount. */
class Block {
  readonly entries: Float64Array;
  /** The sum of the amounts. */
  sum = 0;

  constructor(room: number) {
    this.entries = new Float64Array(2 * room);
  }

  get room(): number {
    return this.entries.length / 2;
  }

  timeAt(place: number): number {
    return this.entries[2 * (place % BLOCK)] as number;
  }

  amountAt(place: number): number {
    return this.entries[2 * (place % BLOCK) + 1] as number;
  }

  put(place: number, time: number, amount: number): void {
    const at = 2 * (place % BLOCK);
    this.entries[at] = time;
    this.entries[at + 1] = amount;
  }
}

/**
 * Amounts in the order of their times: 16 bytes for each time, however many amounts it has, in a
 * chain of blocks, so that a long log grows and shrinks without being copied.
 * Adding and leaving are O(1), amortised.
 */
export class ChargeLog {
  /** The sum of the amounts. */
  total = 0;
  /** At least one block. If there are more, all have full size and none is empty. */
  readonly #blocks = [new Block(LEAST)];
  /** The index of the oldest entry, counted through all blocks. */
  private head = 0;
  private count = 0;
  /** How many entries have left: the number of the one at the head. */
  private left = 0;
  private _newest = Number.NaN;
  private _room = LEAST;

  /** How many times have amounts. */
  get length(): number {
    return this.count;
  }

  /** The capacity in entries. */
  get room(): number {
    return this._room;
  }

  /** The time of the first entry of a log that is not empty. */
  get oldest(): number {
    return this.#blockOf(0).timeAt(this.head);
  }

  /** The time of the last entry of a log that is not empty. */
  get newest(): number {
    return this._newest;
  }

  /** Adds an amount > 0 at a time not before the newest. @returns the number of its entry */
  add(amount: number, time: number): number {
    const place = this.head + this.count;
    if (this._newest === time && this.count > 0) this.#change(place - 1, amount);
    else this.#append(amount, time);
    return this.left + this.count - 1;
  }

  #append(amount: number, time: number): void {
    if (this.head + this.count === this._room) this.#extend();
    const place = this.head + this.count;
    const block = this.#blockOf(place);
    block.put(place, time, amount);
    block.sum += amount;
    this.total += amount;
    this._newest = time;
    this.count += 1;
  }

  /** Takes back a part of what was added to an entry; nothing if the entry has left. */
  remove(amount: number, entry: number): void {
    if (entry < this.left) return;
    this.#change(this.head + entry - this.left, -amount);
    // An empty entry belongs to no charge any more, so its number may be used again.
    while (this.count > 0 && this.#amountAt(this.head + this.count - 1) === 0) this.count -= 1;
    const last = Math.max(0, this.head + this.count - 1);
    const used = 1 + (last >> BLOCK_BITS);
    if (used < this.#blocks.length) this.#blocks.length = used;
    this._newest = this.#blockOf(last).timeAt(last);
    this.#measure();
  }

  /** Removes the oldest entry. */
  shift(): void {
    this.#change(this.head, -this.#amountAt(this.head));
    this.head += 1;
    this.count -= 1;
    this.left += 1;
    if (this.head < BLOCK || this.#blocks.length === 1) return;
    this.#blocks.shift();
    this.head = 0;
    this.#measure();
  }

  /** Releases unneeded capacity. */
  fit(): void {
    if (this.#blocks.length > 1 || this.room === LEAST || this.count * 4 > this.room) return;
    let room = LEAST;
    while (room < this.count * 2) room *= 2;
    this.#pack(room);
  }

  /** The time of the entry that, with all before it, makes up `amount`: > 0, <= total. */
  timeOf(amount: number): number {
    let rest = amount;
    let start = 0;
    for (; this.#blockOf(start).sum < rest; start += BLOCK) rest -= this.#blockOf(start).sum;
    for (let place = Math.max(start, this.head); ; place += 1) {
      rest -= this.#amountAt(place);
      if (rest <= 0) return this.#blockOf(place).timeAt(place);
    }
  }

  #blockOf(place: number): Block {
    return this.#blocks[place >> BLOCK_BITS] as Block;
  }

  #amountAt(place: number): number {
    return this.#blockOf(place).amountAt(place);
  }

  #change(place: number, amount: number): void {
    const block = this.#blockOf(place);
    block.put(place, block.timeAt(place), block.amountAt(place) + amount);
    block.sum += amount;
    this.total += amount;
  }

  /** Makes room for one more entry. */
  #extend(): void {
    const { room } = this;
    if (room > BLOCK) this.#blocks.push(new Block(BLOCK));
    else if (this.count * 2 <= room) this.#pack(room);
    else if (room < BLOCK) this.#pack(room * 2);
    else this.#blocks.push(new Block(BLOCK));
    this.#measure();
  }

  /** Moves the entries of the only block to the front of one with this capacity. */
  #pack(room: number): void {
    const old = this.#blockOf(0);
    const block = old.room === room ? old : new Block(room);
    const end = this.head + this.count;
    block.entries.set(old.entries.subarray(2 * this.head, 2 * end));
    block.sum = old.sum;
    this.#blocks[0] = block;
    this.head = 0;
    this.#measure();
  }

  #measure(): void {
    const { length } = this.#blocks;
    this._room = length > 1 ? length * BLOCK : this.#blockOf(0).room;
  }
}
