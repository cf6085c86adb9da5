import { LatestRecords } from './latest-records.ts';
import type { FoundRequest, RequestRecord } from './wire-requests.ts';

/** The most records of requests that are kept, for all gates together. */
export const MOST_RECORDS = 2_000;
const MOST_LATEST = 1_500;
const MOST_SLOWEST = MOST_RECORDS - MOST_LATEST;

/** Records are kept for a quarter of an hour. */
export const KEPT_MS = 15 * 60_000;

/** The order in which the page asks for requests. */
export interface RequestQuery {
  readonly gate: number;
  readonly sort: 'latest' | 'slowest';
  readonly outcome: 'all' | 'ok' | 'failed' | 'retried' | 'waited';
  readonly most: number;
}

/** The latest and the slowest requests of all gates. */
export class RequestLog {
  readonly #latest = new LatestRecords(MOST_LATEST);
  /** By gate, the slowest first. */
  readonly #slowest = new Map<number, RequestRecord[]>();

  get size(): number {
    let { size } = this.#latest;
    for (const records of this.#slowest.values()) size += records.length;
    return size;
  }

  /** How long a request of a gate must have taken to be among its slowest, in ms. */
  slowMs(gate: number): number {
    const records = this.#slowest.get(gate);
    const isFull = records !== undefined && records.length >= this.#share;
    return isFull ? (records.at(-1)?.durationMs ?? 0) : 0;
  }

  add(gate: number, record: RequestRecord): void {
    this.#latest.add(gate, record);
    if (record.durationMs > this.slowMs(gate)) this.#addSlow(gate, record);
  }

  /** Removes records that are too old to be shown. */
  expire(now: number): void {
    this.#latest.expire(now - KEPT_MS);
    for (const [gate, records] of this.#slowest) {
      const kept = records.filter(({ endedAt }) => now - endedAt <= KEPT_MS);
      if (kept.length === 0) this.#slowest.delete(gate);
      else if (kept.length < records.length) this.#slowest.set(gate, kept);
    }
  }

  find({ gate, sort, outcome, most }: RequestQuery, now: number): readonly RequestRecord[] {
    const records = sort === 'slowest' ? (this.#slowest.get(gate) ?? []) : this.#latest.of(gate);
    const found: RequestRecord[] = [];
    for (const record of records) {
      if (found.length >= most) break;
      if (now - record.endedAt <= KEPT_MS && matches(record, outcome)) found.push(record);
    }
    return found;
  }

  /** One request by its number; undefined: it is not kept, or not any more. */
  byId(id: number, now: number): FoundRequest | undefined {
    const found = this.#latest.byId(id) ?? this.#slowById(id);
    return found !== undefined && now - found.record.endedAt <= KEPT_MS ? found : undefined;
  }

  #slowById(id: number): FoundRequest | undefined {
    for (const [gate, records] of this.#slowest) {
      const record = records.find((each) => each.id === id);
      if (record !== undefined) return { gate, record };
    }
    return undefined;
  }

  /** The number of slowest requests that each gate may keep. */
  get #share(): number {
    return Math.max(1, Math.min(100, Math.floor(MOST_SLOWEST / Math.max(1, this.#slowest.size))));
  }

  #addSlow(gate: number, record: RequestRecord): void {
    let records = this.#slowest.get(gate);
    if (records === undefined) {
      if (this.#slowest.size >= MOST_SLOWEST) return;
      records = [];
      this.#slowest.set(gate, records);
      // With one gate more, each may keep fewer.
      for (const others of this.#slowest.values()) others.splice(this.#share);
    }
    const at = records.findIndex(({ durationMs }) => durationMs < record.durationMs);
    records.splice(at < 0 ? records.length : at, 0, record);
    records.splice(this.#share);
  }
}

function matches(record: RequestRecord, outcome: RequestQuery['outcome']): boolean {
  switch (outcome) {
    case 'all':
      return true;
    case 'ok':
      return record.outcome === 'ok';
    case 'failed':
      return record.outcome !== 'ok';
    case 'retried':
      return record.attempts > 1;
    case 'waited':
      return record.parts.some(({ kind }) => kind === 'wait');
  }
}
