/**
 * How a limit refills, as its reports show: a `bucket` evenly, a `fixed` window completely at one
 * time, a `sliding` window as its requests leave it.
 */
export type WindowKind = 'bucket' | 'fixed' | 'sliding';

/** A reported time until the limit is full again, with the usage. */
export interface Replenishment {
  readonly limit: number;
  readonly used: number;
  readonly resetMs: number;
  /** The greatest rounding of that time. */
  readonly roundedMs: number;
  /** The window that the provider reports, or the usual one. */
  readonly windowMs: number;
  /** When the attempt was sent, and its place in the order of sending. */
  readonly at: number;
  readonly order: number;
  readonly isAccepted: boolean;
}

/** A bucket is full again after the used share of its window, or this multiple of it. */
const MOST_OF_WINDOW = 1.5;
/** Resets that differ by a smaller share are equal. */
const SAME_PART = 0.02;
/**
 * Two compared reports are this many reports apart, and by at least twice the rounding of times.
 */
const APART = 4;
/** The greatest time between two compared reports. */
const FAR_APART_MS = 5_000;
/** How many reports are kept for comparison. */
const MOST_KEPT = 1_000;
/** A kind is known when this many more comparisons fit only it. */
const CLEAR = 3;
/** The upper bound of that count, so that a change of the kind is found soon. */
const MOST = 8;

const KINDS = ['bucket', 'fixed', 'sliding'] as const;

/**
 * Finds the real kind and length of a limit's window from the difference between two reports: many
 * servers have other windows than the documentation of their headers says.
 */
export class WindowClassifier {
  readonly #score = { bucket: 0, fixed: 0, sliding: 0 };
  #kind: WindowKind | undefined = undefined;
  /** Whether all reports so far fit a bucket with the reported window. */
  #mayBeBucket = true;
  /** The report with the least usage so far. */
  #least: Replenishment | undefined = undefined;
  /** Rejections come sooner than answers, so each of the two is compared with its own kind. */
  readonly #accepted: Replenishment[] = [];
  readonly #rejected: Replenishment[] = [];
  #longestMs = 0;
  #roundedMs = Number.POSITIVE_INFINITY;

  /** Undefined while it is not clear. */
  get kind(): WindowKind | undefined {
    return this.#kind ?? (this.#longestMs > 0 && this.#mayBeBucket ? 'bucket' : undefined);
  }

  /** Continues with a kind that another classifier has found; null: it was not clear. */
  continue(kind: WindowKind | null): void {
    this.#mayBeBucket = kind === 'bucket';
    this.#kind = this.#mayBeBucket ? undefined : (kind ?? undefined);
  }

  /** Length of the window, if it is no bucket, >= 1: the longest reset since the kind is clear. */
  get lengthMs(): number {
    return Math.max(1, this.#longestMs);
  }

  /** Records a report; ignored if an attempt of the same kind that was sent later has reported. */
  report(report: Replenishment): void {
    const recent = report.isAccepted ? this.#accepted : this.#rejected;
    if (report.order < (recent.at(-1)?.order ?? -1)) return;
    this.#roundedMs = Math.min(this.#roundedMs, report.roundedMs);
    this.#longestMs = Math.max(this.#longestMs, report.resetMs);
    const fullMs = MOST_OF_WINDOW * report.windowMs * (report.used / report.limit);
    if (report.resetMs > fullMs + this.#roundedMs) this.#mayBeBucket = false;
    this.#compareUsage(report);
    const earlier = this.#earlier(report, recent);
    if (earlier === undefined) return;
    const same = Math.max(this.#roundedMs, SAME_PART * Math.max(report.resetMs, earlier.resetMs));
    const fits = {
      bucket: isBucket(earlier, report, same),
      fixed: isFixed(earlier, report, same),
      sliding: isSliding(earlier, report, same),
    };
    const explained = KINDS.filter((kind) => fits[kind]).length;
    // A comparison that fits all kinds, or none, is no evidence.
    if (explained === 0 || explained === KINDS.length) return;
    for (const kind of KINDS) {
      const score = this.#score[kind] + (fits[kind] ? 1 : -1);
      this.#score[kind] = Math.max(-MOST, Math.min(MOST, score));
    }
    this.#decide(report);
  }

  /** The reset of a bucket grows with its usage, of which fractions are not reported. */
  #compareUsage(report: Replenishment): void {
    const { used, resetMs, roundedMs } = report;
    const least = this.#least;
    if (least === undefined || used <= least.used) this.#least = report;
    else if (resetMs + roundedMs < ((least.resetMs - roundedMs) * (used - 1)) / (least.used + 1)) {
      this.#mayBeBucket = false;
    }
  }

  /** The report to compare with, if there is one. */
  #earlier(report: Replenishment, recent: Replenishment[]): Replenishment | undefined {
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
 * A bucket's reset is proportional to its usage, of which fractions are not reported. It may hold
 * less than the limit of its window: then the same amount is missing in all reports.
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

/**
 * Each request that a sliding window admits is left out a whole window later. While it admits none,
 * its end stays, as that of a fixed window.
 */
function isSliding(earlier: Replenishment, next: Replenishment, same: number): boolean {
  if (Math.abs(next.resetMs - earlier.resetMs) <= same) return true;
  return next.used === earlier.used && isSameEnd(earlier, next, same);
}

function isSameEnd(earlier: Replenishment, next: Replenishment, same: number): boolean {
  return Math.abs(next.at + next.resetMs - earlier.at - earlier.resetMs) <= same;
}

/**
 * The end of a fixed window stays, until the next window, which has less usage. A sliding counter
 * has the same ends; its usage falls within a window, too.
 */
function isFixed(earlier: Replenishment, next: Replenishment, same: number): boolean {
  if (isSameEnd(earlier, next, same)) return true;
  const leftMs = earlier.resetMs - (next.at - earlier.at);
  return leftMs <= same && next.resetMs > leftMs && next.used <= earlier.used;
}
