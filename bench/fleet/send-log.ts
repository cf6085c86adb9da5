/** Logs when requests were sent and ended, in a file for each worker that outlives the worker. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

const ENTRIES = 4_096;
const ENTRY_BYTES = Float64Array.BYTES_PER_ELEMENT;

/**
 * The difference between `performance.now()` and the common clock of all processes of a machine.
 */
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The common clock of all processes of this machine, in milliseconds. */
export function sharedNow(): number {
  return performance.now() + OFFSET_MS;
}

/** Writes the time when a request is sent, and as a negative number the time when it ends. */
export class SendLog {
  private readonly file: number;
  private readonly entries: Float64Array;
  private count = 0;

  /** @param isKillable whether to write each entry at once, because the worker may be killed */
  constructor(path: string, isKillable: boolean) {
    this.file = openSync(path, 'a');
    this.entries = new Float64Array(isKillable ? 1 : ENTRIES);
  }

  sent(): void {
    this.add(sharedNow());
  }

  ended(): void {
    this.add(-sharedNow());
  }

  close(): void {
    this.flush();
    closeSync(this.file);
  }

  private add(entry: number): void {
    this.entries[this.count] = entry;
    this.count += 1;
    if (this.count === this.entries.length) this.flush();
  }

  private flush(): void {
    if (this.count === 0) return;
    writeSync(this.file, this.entries, 0, this.count * ENTRY_BYTES);
    this.count = 0;
  }
}

/** The requests of one worker, in ms of the common clock. */
export interface Sends {
  readonly sent: readonly number[];
  readonly ended: readonly number[];
}

export function readSends(path: string): Sends {
  const { buffer, byteOffset, length } = readFileSync(path);
  const whole = Math.floor(length / ENTRY_BYTES) * ENTRY_BYTES;
  const entries = [...new Float64Array(buffer.slice(byteOffset, byteOffset + whole))];
  return {
    sent: entries.filter((entry) => entry > 0),
    ended: entries.filter((entry) => entry < 0).map((entry) => -entry),
  };
}
