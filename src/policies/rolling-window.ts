/** The number of parts of a window: ended requests leave it in steps of a tenth. */
const PARTS = 10;

/** How many requests ended in the window, and how many of them failed. */
export interface RecentOutcomes {
  readonly requests: number;
  readonly failures: number;
}

/**
 * Counts ended requests over a rolling window, in constant memory. It is exact except for the
 * oldest part, which leaves as a whole.
 */
export class OutcomeWindow {
  readonly #partMs: number;
  readonly #requests = new Array<number>(PARTS).fill(0);
  readonly #failures = new Array<number>(PARTS).fill(0);
  /** The number of the present part, counted from the clock's zero. */
  #part = Number.NEGATIVE_INFINITY;
  #requestCount = 0;
  #failureCount = 0;

  constructor(windowMs: number) {
    this.#partMs = windowMs / PARTS;
  }

  add(requests: number, failures: number, now: number): void {
    this.#leave(now);
    const at = this.#part % PARTS;
    this.#requests[at] = (this.#requests[at] ?? 0) + requests;
    this.#failures[at] = (this.#failures[at] ?? 0) + failures;
    this.#requestCount += requests;
    this.#failureCount += failures;
  }

  recent(now: number): RecentOutcomes {
    this.#leave(now);
    return { requests: this.#requestCount, failures: this.#failureCount };
  }

  clear(): void {
    this.#requests.fill(0);
    this.#failures.fill(0);
    this.#requestCount = 0;
    this.#failureCount = 0;
  }

  /** Removes the parts that have left the window. */
  #leave(now: number): void {
    // The clock may neither step back nor be negative here.
    const part = Math.max(this.#part, Math.floor(Math.max(0, now) / this.#partMs));
    if (part - this.#part >= PARTS) this.clear();
    else {
      for (let gone = this.#part + 1; gone <= part; gone += 1) this.#clearPart(gone % PARTS);
    }
    this.#part = part;
  }

  #clearPart(at: number): void {
    this.#requestCount -= this.#requests[at] ?? 0;
    this.#failureCount -= this.#failures[at] ?? 0;
    this.#requests[at] = 0;
    this.#failures[at] = 0;
  }
}

/** The number of pieces of the window: the rate is exact to about 1 / 60 of it. */
const PIECES = 60;
/** A rate is reported from this duration on, in milliseconds. */
const LEAST_COVERED_MS = 1;

/** Counts events over a recent window, in constant memory. */
export class RateWindow {
  readonly #pieceMs: number;
  readonly #startedAt: number;
  readonly #counts = new Array<number>(PIECES).fill(0);
  /** The index of the piece with the latest count; pieces are numbered from the start. */
  #piece = 0;

  constructor(windowMs: number, now: number) {
    this.#pieceMs = windowMs / PIECES;
    this.#startedAt = now;
  }

  add(now: number): void {
    this.#forget(now);
    const slot = this.#piece % PIECES;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
  }

  /** Events per second; undefined while the duration is too short. */
  perSecond(now: number): number | undefined {
    this.#forget(now);
    const firstPiece = Math.max(0, this.#piece - PIECES + 1);
    const coveredMs = now - this.#startedAt - firstPiece * this.#pieceMs;
    if (!(coveredMs >= LEAST_COVERED_MS)) return undefined;
    return (this.#counts.reduce((sum, count) => sum + count, 0) * 1000) / coveredMs;
  }

  #forget(now: number): void {
    const piece = Math.max(this.#piece, Math.floor((now - this.#startedAt) / this.#pieceMs));
    if (piece - this.#piece >= PIECES) this.#counts.fill(0);
    else for (let old = this.#piece + 1; old <= piece; old++) this.#counts[old % PIECES] = 0;
    this.#piece = piece;
  }
}
