/**
 * How a limit comes back, as its reports show: a `bucket` fills evenly, a `fixed` window is whole again
 * at one time, a `sliding` one as its requests leave it.
 */
export type WindowKind = 'bucket' | 'fixed' | 'sliding';

/** A time until nothing is used any more, with what is used. */
export interface Replenishment {
  readonly limit: number;
  readonly used: number;
  readonly resetMs: number;
  /** The window as the provider tells it, or the one that is usual. */
  readonly windowMs: number;
  /** When this was so. */
  readonly at: number;
}

/** A bucket that little is used of is full again in a little of its window; other windows are not. */
const MOST_OF_WINDOW = 1.5;
const SHORTEST_RESET_MS = 2_000;
/** Reports that are compared lie at least so far apart... */
const APART_MS = 500;
/** ... and at most. */
const FAR_APART_MS = 5_000;

/** Finds out what kind of window a limit has from how its reports change. */
export class WindowWatch {
  #kind: WindowKind | undefined = undefined;
  #first: Replenishment | undefined = undefined;
  #slideMs = 0;

  /** undefined while that is not clear. */
  get kind(): WindowKind | undefined {
    return this.#kind;
  }

  /** Length of a sliding window. */
  get slideMs(): number {
    return this.#slideMs;
  }

  report(report: Replenishment): void {
    const { limit, used, resetMs, windowMs } = report;
    const wholeMs = (resetMs * limit) / Math.max(1, used);
    if (resetMs >= SHORTEST_RESET_MS && wholeMs > MOST_OF_WINDOW * windowMs) this.#compare(report);
    else this.#kind ??= 'bucket';
  }

  /** It is no bucket: does the end of its window stay where it is, or move with time? */
  #compare(report: Replenishment): void {
    const first = this.#first;
    if (first === undefined || this.#kind === 'bucket') {
      this.#first = report;
      this.#kind = undefined;
      return;
    }
    const apartMs = report.at - first.at;
    if (apartMs < APART_MS) return;
    const moved = Math.abs(report.resetMs - first.resetMs);
    const stayed = Math.abs(report.resetMs + apartMs - first.resetMs);
    this.#kind = moved < stayed ? 'sliding' : 'fixed';
    this.#slideMs = Math.max(report.resetMs, first.resetMs);
    if (apartMs > FAR_APART_MS) this.#first = report;
  }
}
