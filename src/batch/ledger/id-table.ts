import { hash } from 'node:crypto';

/** Ids are spread over tables that grow one at a time, so that growing needs little memory. */
const TABLES = 256;
const FIRST_CAPACITY = 16;
const GROWTH = 1.25;
/** The part of the slots that may be in use. */
const MAX_LOAD = 0.9;
/** Words of a slot: the two halves of the hash of an id, and the value. */
const WORDS = 3;

/**
 * Maps many ids to 32-bit numbers. It keeps 64-bit hashes instead of the ids, so that an entry
 * takes 12 bytes, plus empty slots. Of five million ids, two have the same hash once in 1.5 million
 * runs.
 */
export class IdTable {
  readonly #tables = Array.from({ length: TABLES }, () => new Table());

  get size(): number {
    return this.#tables.reduce((sum, { size }) => sum + size, 0);
  }

  get(id: string): number | undefined {
    const [high, low] = keyOf(id);
    return this.#tableOf(high).get(high, low);
  }

  set(id: string, value: number): void {
    const [high, low] = keyOf(id);
    this.#tableOf(high).set(high, low, value);
  }

  *values(): Generator<number> {
    for (const table of this.#tables) yield* table.values();
  }

  #tableOf(high: number): Table {
    const table = this.#tables[high % TABLES];
    if (table === undefined) throw new RangeError(`no table for ${high}`);
    return table;
  }
}

function keyOf(id: string): readonly [high: number, low: number] {
  const digest = hash('sha256', id, 'buffer');
  // A slot whose second word is 0 is empty.
  return [digest.readUInt32LE(0), digest.readUInt32LE(4) || 1];
}

/** Open addressing with linear probing. */
class Table {
  size = 0;
  #words = new Uint32Array(FIRST_CAPACITY * WORDS);

  get(high: number, low: number): number | undefined {
    const slot = this.#slotOf(high, low);
    return this.#words[slot + 1] === 0 ? undefined : this.#words[slot + 2];
  }

  set(high: number, low: number, value: number): void {
    let slot = this.#slotOf(high, low);
    if (this.#words[slot + 1] === 0) {
      this.size += 1;
      if (this.size * WORDS > this.#words.length * MAX_LOAD) {
        this.#grow();
        slot = this.#slotOf(high, low);
      }
    }
    this.#words[slot] = high;
    this.#words[slot + 1] = low;
    this.#words[slot + 2] = value;
  }

  *values(): Generator<number> {
    for (let slot = 0; slot < this.#words.length; slot += WORDS) {
      if (this.#words[slot + 1] !== 0) yield this.#words[slot + 2] ?? 0;
    }
  }

  #slotOf(high: number, low: number): number {
    const words = this.#words;
    let slot = (low % (words.length / WORDS)) * WORDS;
    while (words[slot + 1] !== 0 && (words[slot] !== high || words[slot + 1] !== low)) {
      slot += WORDS;
      if (slot === words.length) slot = 0;
    }
    return slot;
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(Math.ceil((old.length / WORDS) * GROWTH) * WORDS);
    for (let from = 0; from < old.length; from += WORDS) {
      const low = old[from + 1] ?? 0;
      if (low !== 0)
        this.#words.set(old.subarray(from, from + WORDS), this.#slotOf(old[from] ?? 0, low));
    }
  }
}
