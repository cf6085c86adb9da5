/** How many marks are kept. */
const MOST_MARKS = 24;
/** The most that the provider may have had left at a mark, in attempts. */
const LEVEL = 1;
/** Bounds that contradict each other by at most this factor agree. */
const AGREES = 1.02;
/**
 * The rate is at least this share of an attempt in the measured time, even if none was accepted.
 */
const LEAST_PART = 0.3;
/** The greatest ratio of the upper bound to the lower one. */
const WIDEST = 1_000;

/**
 * A moment at which the provider had nothing left: it rejected one attempt, and accepted the next.
 */
interface Mark {
  /** The times of the rejection and of the acceptance, in ms; kept without skipped time. */
  from: number;
  to: number;
  /** Attempts accepted since the previous mark. */
  accepted: number;
  /** Whether enough was sent since the previous mark to use up the provider's rate. */
  readonly isFull: boolean;
  /** The pace of sending at the rejection, per ms. */
  pacePerMs: number;
}

/** What is known about a rate, per ms. */
export interface RateBounds {
  readonly least: number;
  readonly most: number;
  readonly best: number;
  /** The number of accepted attempts behind `best`. */
  readonly evidence: number;
  /** Whether the provider was kept full during the last measurement. */
  readonly isFull: boolean;
  /** Whether older marks contradict the last one: the rate is not what it was. */
  readonly hasChanged: boolean;
}

/**
 * Measures the rate that a provider accepts, by the attempts that it accepted between moments at
 * which it had nothing left. That is exact up to one attempt at each end for every kind of limit: a
 * bucket was empty both times, a window was at its end both times. The longest row of agreeing
 * marks counts: after a change of the rate, older marks contradict the last one, and are left out.
 */
export class CongestionSamples {
  private readonly marks: Mark[] = [];
  /** The time that the measurements leave out, in ms. */
  private skippedMs = 0;

  /** Begins with a mark at these times. */
  constructor(from: number, to: number) {
    this.restart(from, to);
  }

  get last(): Mark {
    return this.marks.at(-1) as Mark;
  }

  /** Whether there are more marks than the first. */
  get hasRow(): boolean {
    return this.marks.length > 1;
  }

  /** Leaves this time, in ms, out of the measurements. */
  skip(ms: number): void {
    this.skippedMs += ms;
  }

  add({ from, to, ...mark }: Mark): void {
    this.marks.push({ ...mark, from: from - this.skippedMs, to: to - this.skippedMs });
    if (this.marks.length > MOST_MARKS) this.marks.shift();
  }

  /** Extends the last mark, if the provider accepted only a few attempts since. */
  prolong(accepted: number, from: number, to: number): void {
    const { last } = this;
    last.accepted += accepted;
    last.from = from - this.skippedMs;
    last.to = to - this.skippedMs;
  }

  /** Forgets all marks, and begins with this one. */
  restart(from: number, to: number): void {
    this.skippedMs = 0;
    this.marks.length = 0;
    this.marks.push({ from, to, accepted: 0, isFull: true, pacePerMs: 0 });
  }

  /** The limit has changed by a factor: counts as if it had been that all the time. */
  scale(factor: number): void {
    for (const mark of this.marks) {
      mark.accepted *= factor;
      mark.pacePerMs *= factor;
    }
  }

  /** @returns undefined if there is only one mark */
  bounds(): RateBounds | undefined {
    const { last } = this;
    if (this.marks.length < 2) return undefined;
    let least = 0;
    let most = Number.POSITIVE_INFINITY;
    let best = 0;
    let evidence = 0;
    let accepted = 0;
    let longestMs = 1;
    let areFull = true;
    let hasChanged = false;
    for (let index = this.marks.length - 2; index >= 0; index -= 1) {
      const since = this.marks[index] as Mark;
      const next = this.marks[index + 1] as Mark;
      accepted += next.accepted;
      areFull = areFull && next.isFull;
      const shortMs = Math.max(1e-3, last.from - since.to);
      const longMs = Math.max(shortMs, last.to - since.from);
      const lower = Math.max(0, accepted - LEVEL) / longMs;
      const upper = this.upper(areFull, next, (accepted + LEVEL) / shortMs);
      hasChanged = Math.max(least, lower) > AGREES * Math.min(most, upper);
      if (hasChanged) break;
      least = Math.max(least, lower);
      most = Math.min(most, upper);
      longestMs = longMs;
      if (!areFull && next !== last) continue;
      evidence = Math.round(accepted);
      best = (2 * accepted) / (shortMs + longMs);
    }
    least = Math.max(least, LEAST_PART / longestMs);
    most = Math.min(most, WIDEST * least);
    best = Math.min(Math.max(best, least), most);
    return { least, most, best, evidence, isFull: last.isFull, hasChanged };
  }

  /** If less was sent than the provider accepts, only the rejected pace bounds the rate. */
  private upper(areFull: boolean, next: Mark, fullPerMs: number): number {
    if (areFull) return fullPerMs;
    if (next !== this.last) return Number.POSITIVE_INFINITY;
    const { pacePerMs } = next;
    return pacePerMs === Number.POSITIVE_INFINITY ? fullPerMs : Math.max(pacePerMs, fullPerMs);
  }
}
