/** The number of pieces of the window, which leave it one by one. */
const PIECES = 60;

/** The requests that ended in one piece. Times in ms. */
interface Piece {
  readonly index: number;
  /** The sum of their durations. */
  sumMs: number;
  /** The start of the first one, and the end of the last one. */
  readonly firstAt: number;
  lastAt: number;
}

/** How long requests took together, and the time in which they did. */
export interface Work {
  readonly sumMs: number;
  readonly spanMs: number;
}

/** The durations of the requests that ended in a recent window, in bounded memory. */
export class RecentWork {
  readonly #pieceMs: number;
  /** Pieces with ends, in order. */
  readonly #pieces: Piece[] = [];
  /** The end of the last request before these; undefined: none has ended. */
  #leftAt: number | undefined = undefined;

  constructor(windowMs: number) {
    this.#pieceMs = windowMs / PIECES;
  }

  /** The first request only begins the time: its own belongs to what ran beside it, too. */
  add(durationMs: number, now: number): void {
    if (this.#leftAt === undefined) {
      this.#leftAt = now;
      return;
    }
    const index = this.#indexAt(now);
    const last = this.#pieces.at(-1);
    if (last?.index === index) {
      last.sumMs += durationMs;
      last.lastAt = now;
    } else {
      this.#pieces.push({ index, sumMs: durationMs, firstAt: now - durationMs, lastAt: now });
    }
    this.#forget(now);
  }

  /**
   * The work of the requests in the window. Its time begins at the end of the last request before
   * them, but no earlier than the window or the first of them.
   * @returns undefined if none ended there
   */
  measure(now: number): Work | undefined {
    this.#forget(now);
    const [first] = this.#pieces;
    if (first === undefined || this.#leftAt === undefined) return undefined;
    const windowAt = (this.#indexAt(now) - PIECES + 1) * this.#pieceMs;
    const since = Math.max(this.#leftAt, Math.min(windowAt, first.firstAt));
    const sumMs = this.#pieces.reduce((sum, piece) => sum + piece.sumMs, 0);
    return { sumMs, spanMs: now - since };
  }

  #indexAt(now: number): number {
    return Math.floor(now / this.#pieceMs);
  }

  #forget(now: number): void {
    const oldest = this.#indexAt(now) - PIECES;
    for (let [first] = this.#pieces; first && first.index <= oldest; [first] = this.#pieces) {
      this.#leftAt = first.lastAt;
      this.#pieces.shift();
    }
  }
}
