import { getOrMake } from '../util/collections.ts';
import type { FoundRequest, RequestRecord } from './wire-requests.ts';

/**
 * The records of the requests that ended last, up to a number for all gates together. When it is
 * reached, the gate with the most records loses its oldest: a busy gate does not drive out the few
 * records of a quiet one.
 */
export class LatestRecords {
  readonly #most: number;
  /** By gate, the oldest first. */
  readonly #records = new Map<number, RequestRecord[]>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  add(gate: number, record: RequestRecord): void {
    const records = getOrMake(this.#records, gate, () => []);
    records.push(record);
    this.#size += 1;
    if (this.#size > this.#most) this.#dropOldest(this.#mayLose(records) ? gate : this.#fullest());
  }

  /** Removes records that ended before a time, in ms since 1970. */
  expire(before: number): void {
    for (const [gate, records] of this.#records) {
      const first = records.findIndex(({ endedAt }) => endedAt >= before);
      const dropped = records.splice(0, first < 0 ? records.length : first);
      this.#size -= dropped.length;
      if (records.length === 0) this.#records.delete(gate);
    }
  }

  /** The newest first. */
  *of(gate: number): Iterable<RequestRecord> {
    const records = this.#records.get(gate) ?? [];
    for (let place = records.length - 1; place >= 0; place -= 1) {
      const record = records[place];
      if (record !== undefined) yield record;
    }
  }

  byId(id: number): FoundRequest | undefined {
    for (const [gate, records] of this.#records) {
      const record = records.find((each) => each.id === id);
      if (record !== undefined) return { gate, record };
    }
    return undefined;
  }

  /** Whether a gate has more than its equal share. That needs no search for the fullest gate. */
  #mayLose({ length }: readonly RequestRecord[]): boolean {
    return length > Math.max(1, this.#most / this.#records.size);
  }

  #fullest(): number {
    let [fullest, most] = [0, 0];
    for (const [gate, { length }] of this.#records) {
      if (length > most) [fullest, most] = [gate, length];
    }
    return fullest;
  }

  #dropOldest(gate: number): void {
    const records = this.#records.get(gate);
    records?.shift();
    this.#size -= 1;
    if (records?.length === 0) this.#records.delete(gate);
  }
}
