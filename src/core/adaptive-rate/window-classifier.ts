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
  /** What that may have been rounded up by. */
  readonly roundedMs: number;
  /** The window as the provider tells it, or the one that is usual. */
  readonly windowMs: number;
  /** When this was so. */
  readonly at: number;
}

/** A bucket is full again after the part of its window that is used, or so many times that. */
const MOST_OF_WINDOW = 1.5;
/** Times of reset that differ by a smaller part are the same. */
const SAME_PART = 0.02;
/** Reports that are compared lie so many apart, and twice as long as what is the same... */
const APART = 4;
/** ... but no longer than this. */
const FAR_APART_MS = 5_000;
/** No more are kept to compare with, however many come, or though the clock stands still. */
const MOST_KEPT = 1_000;
/** What a kind is known by: so many more comparisons that only it explains. */
const CLEAR = 3;
/** No more are remembered, so that another kind is found as soon. */
const MOST = 8;

const KINDS = ['bucket', 'fixed', 'sliding'] as const;

/**
 * Finds out what kind of window a limit really has, and how long it is, from how one report differs
 * from another soon after it: many servers have other windows than their headers are documented with.
 */
export class WindowClassifier {
  readonly #score = { bucket: 0, fixed: 0, sliding: 0 };
  #kind: WindowKind | undefined = undefined;
  /** Whether each report so far would be that of a bucket of the window that is told. */
  #mayBeBucket = true;
  readonly #recent: Replenishment[] = [];
  #longestMs = 0;
  #roundedMs = Number.POSITIVE_INFINITY;

  /** undefined while that is not clear. */
  get kind(): WindowKind | undefined {
    return this.#kind ?? (this.#longestMs > 0 && this.#mayBeBucket ? 'bucket' : undefined);
  }

  /** Length of the window, where it is not a bucket, >= 1: the longest time of reset since that is clear. */
  get lengthMs(): number {
    return Math.max(1, this.#longestMs);
  }

  /** To be told in the order in which they were sent. */
  report(report: Replenishment): void {
    this.#roundedMs = Math.min(this.#roundedMs, report.roundedMs);
    this.#longestMs = Math.max(this.#longestMs, report.resetMs);
    const fullMs = MOST_OF_WINDOW * report.windowMs * (report.used / report.limit);
    if (report.resetMs > fullMs + this.#roundedMs) this.#mayBeBucket = false;
    const earlier = this.#earlier(report);
    if (earlier === undefined) return;
    const same = Math.max(this.#roundedMs, SAME_PART * Math.max(report.resetMs, earlier.resetMs));
    const fits = {
      bucket: isBucket(earlier, report, same),
      fixed: isFixed(earlier, report, same),
      sliding: Math.abs(report.resetMs - earlier.resetMs) <= same,
    };
    const explained = KINDS.filter((kind) => fits[kind]).length;
    // What all of them explain, or none, tells nothing.
    if (explained === 0 || explained === KINDS.length) return;
    for (const kind of KINDS) {
      const score = this.#score[kind] + (fits[kind] ? 1 : -1);
      this.#score[kind] = Math.max(-MOST, Math.min(MOST, score));
    }
    this.#decide(report);
  }

  /** The report to compare one with, if there is any. */
  #earlier(report: Replenishment): Replenishment | undefined {
    const recent = this.#recent;
    recent.push(report);
    if (recent.length > MOST_KEPT) recent.shift();
    const isFarEnough = ({ at }: Replenishment) => report.at - at >= 2 * this.#roundedMs;
    while (recent[1] !== undefined && recent.length > APART + 1 && isFarEnough(recent[1])) {
      recent.shift();
    }
    const [first] = recent;
    if (first === undefined || recent.length <= APART || !isFarEnough(first)) return undefined;
    return report.at - first.at <= FAR_APART_MS ? first : undefined;
  }

  #decide({ resetMs }: Replenishment): void {
    const [first, second] = [...KINDS].sort((a, b) => this.#score[b] - this.#score[a]);
    if (first === undefined || second === undefined || first === this.#kind) return;
    if (this.#score[first] - this.#score[second] < CLEAR) return;
    this.#kind = first;
    this.#longestMs = resetMs;
  }
}

/**
 * A bucket fills in proportion to what is used of it, of which parts are not told. It may hold less than
 * the limit of its window: then the same is missing of all that is left.
 */
function isBucket(earlier: Replenishment, report: Replenishment, same: number): boolean {
  const { resetMs, used } = report;
  const grown = used / Math.max(1, earlier.used);
  const eachMs = earlier.resetMs / Math.max(1, earlier.used);
  const leastMs = (earlier.resetMs - same) * grown - same - eachMs;
  if (resetMs >= leastMs && resetMs <= earlier.resetMs * grown + same + eachMs) return true;
  const eachOfWindowMs = report.windowMs / report.limit;
  const grownMs = (used - earlier.used) * eachOfWindowMs;
  return Math.abs(resetMs - earlier.resetMs - grownMs) <= report.roundedMs + eachOfWindowMs;
}

/** The end of a fixed window stays where it is, until it is another's, of which less is used. */
function isFixed(earlier: Replenishment, next: Replenishment, same: number): boolean {
  const leftMs = earlier.resetMs - (next.at - earlier.at);
  if (Math.abs(next.resetMs - leftMs) <= same) return next.used >= earlier.used;
  return leftMs <= same && next.resetMs > leftMs && next.used <= earlier.used;
}
