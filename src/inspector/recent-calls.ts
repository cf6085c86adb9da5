import { count, duration } from './format.ts';

/** The calls of the last minute are counted in parts of this length. */
const PART_MS = 10_000;
const KEPT_PARTS = 6;

/** So many failed calls, more than succeeded, are shown as the condition of a gate. */
const LEAST_FAILED = 5;

/** Calls that run and of which none ends are told of after this time. */
const LONG_MS = 30_000;

/** What a follower has counted. */
interface CallCounts {
  readonly okCount: number;
  /** Calls without success, rejections for going too fast apart. */
  readonly failedCalls: number;
  readonly throttledCount: number;
  /** The status, code or class of the last failed call. */
  readonly lastFailure: string;
  /** Requests that were refused: they ended unsent, with an error. */
  readonly rejectedCount: number;
  /** The class of the error of the last of them. */
  readonly lastRefusal: string;
}

const NONE: CallCounts = {
  okCount: 0,
  failedCalls: 0,
  throttledCount: 0,
  lastFailure: '',
  rejectedCount: 0,
  lastRefusal: '',
};

interface Part {
  readonly from: number;
  ok: number;
  failed: number;
  refused: number;
}

/** How the calls of the last minute have ended. */
export class RecentCalls {
  #parts: Part[] = [];
  #before = NONE;
  #now = 0;
  /** When a call ended last, or the first of those that run was sent. */
  #endedAt = 0;
  #isRunning = false;

  /** @param now milliseconds since 1970 */
  put(counts: CallCounts, running: number, now: number): void {
    const { okCount, failedCalls, throttledCount, rejectedCount } = counts;
    const before = this.#before;
    const ok = okCount - before.okCount;
    const failed = failedCalls - before.failedCalls;
    const hasEnded = ok + failed + throttledCount - before.throttledCount > 0;
    const refused = rejectedCount - before.rejectedCount;
    const { lastFailure, lastRefusal } = counts;
    this.#before = {
      okCount,
      failedCalls,
      throttledCount,
      lastFailure,
      rejectedCount,
      lastRefusal,
    };
    this.#now = now;
    if (hasEnded || !this.#isRunning) this.#endedAt = now;
    this.#isRunning = running > 0;
    let part = this.#parts.at(-1);
    if (part === undefined || now >= part.from + PART_MS) {
      part = { from: now, ok: 0, failed: 0, refused: 0 };
      this.#parts = [...this.#parts, part].slice(-KEPT_PARTS);
    }
    part.ok += ok;
    part.failed += failed;
    part.refused += refused;
  }

  /** Whether more calls fail than succeed. */
  get areFailing(): boolean {
    const { ok, failed } = this.#sums;
    return failed >= LEAST_FAILED && failed > ok;
  }

  /** Which calls have failed, in a sentence; empty: none has. */
  get failures(): string {
    const { ok, failed } = this.#sums;
    if (failed === 0) return '';
    const latest = ` in the last minute, the latest with ${this.#before.lastFailure}.`;
    return `${count(failed)} of ${count(ok + failed)} calls failed${latest}`;
  }

  /** How many requests were refused, in a sentence; empty: none was. */
  get refusals(): string {
    const { refused } = this.#sums;
    if (refused === 0) return '';
    const were = refused === 1 ? '1 request was' : `${count(refused)} requests were`;
    return `${were} refused unsent in the last minute, the latest with ${this.#before.lastRefusal}.`;
  }

  /** For how long no call has ended, in a sentence; empty: that is not long. */
  get silence(): string {
    const ms = this.#now - this.#endedAt;
    return this.#isRunning && ms >= LONG_MS ? `No call has ended for ${duration(ms)}.` : '';
  }

  get #sums(): Omit<Part, 'from'> {
    const sums = { ok: 0, failed: 0, refused: 0 };
    for (const part of this.#parts) {
      if (part.from <= this.#now - KEPT_PARTS * PART_MS) continue;
      sums.ok += part.ok;
      sums.failed += part.failed;
      sums.refused += part.refused;
    }
    return sums;
  }
}
