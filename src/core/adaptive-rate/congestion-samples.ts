/** So many marks are kept. */
const MOST_MARKS = 24;
/** At a mark the provider had less than this left. */
const LEVEL = 1;
/** Bounds that contradict each other by no more than this agree. */
const AGREES = 1.02;
/** Where nothing was accepted, the rate is at least this part of a request in that time. */
const LEAST_PART = 0.3;
/** A lower bound no further below the upper one. */
const WIDEST = 1_000;

/** A moment at which the provider had nothing left: it rejected one, and accepted the next again. */
interface Mark {
  /** The time from the rejection to the acceptance, without what does not count, in ms. */
  from: number;
  to: number;
  /** Accepted since the mark before. */
  accepted: number;
  /** Whether as much was sent all the while as the provider would take. */
  readonly isFull: boolean;
  /** The pace at which it was rejected, per ms. */
  readonly pacePerMs: number;
}

/** What is known of a rate, per ms. */
export interface RateBounds {
  readonly least: number;
  readonly most: number;
  readonly best: number;
  /** Accepted attempts that `best` rests on. */
  readonly evidence: number;
  /** Whether the last measurement is of a provider that was kept full. */
  readonly isFull: boolean;
}

/**
 * Measures the rate that a provider accepts, by what it accepted between moments at which it had
 * nothing left. That is exact but for one attempt at each end, whatever the limit is: a bucket was
 * empty both times, a window is at its end both times. The longest row of marks that agree counts:
 * where the rate has changed, older ones contradict the last, and are left out.
 */
export class CongestionSamples {
  private readonly marks: Mark[] = [];

  /** @param first the mark that all measurements begin with */
  constructor(first: { readonly from: number; readonly to: number }) {
    this.marks.push({ ...first, accepted: 0, isFull: true, pacePerMs: 0 });
  }

  get last(): Mark {
    return this.marks.at(-1) as Mark;
  }

  /** Whether there is more than the first mark. */
  get hasRow(): boolean {
    return this.marks.length > 1;
  }

  add(mark: Mark): void {
    this.marks.push(mark);
    if (this.marks.length > MOST_MARKS) this.marks.shift();
  }

  /** The last mark lasted longer: in between a few were let in. */
  prolong(accepted: number, from: number, to: number): void {
    const { last } = this;
    last.accepted += accepted;
    last.from = from;
    last.to = to;
  }

  /** Forgets all but the last mark. */
  restart(from: number, to: number): void {
    this.marks.length = 0;
    this.marks.push({ from, to, accepted: 0, isFull: true, pacePerMs: 0 });
  }

  /** undefined: there is but one mark. */
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
    for (let index = this.marks.length - 2; index >= 0; index -= 1) {
      const since = this.marks[index] as Mark;
      const next = this.marks[index + 1] as Mark;
      accepted += next.accepted;
      areFull = areFull && next.isFull;
      const shortMs = Math.max(1e-3, last.from - since.to);
      const longMs = Math.max(shortMs, last.to - since.from);
      const lower = Math.max(0, accepted - LEVEL) / longMs;
      const upper = this.upper(areFull, next, (accepted + LEVEL) / shortMs);
      if (Math.max(least, lower) > AGREES * Math.min(most, upper)) break;
      least = Math.max(least, lower);
      most = Math.min(most, upper);
      longestMs = longMs;
      if (!areFull && next !== last) continue;
      evidence = accepted;
      best = (2 * accepted) / (shortMs + longMs);
    }
    least = Math.max(least, LEAST_PART / longestMs, most / WIDEST);
    best = Math.min(Math.max(best, least), most);
    return { least, most, best, evidence, isFull: last.isFull };
  }

  /** Where less was sent than the provider takes, only the pace that it rejected bounds the rate. */
  private upper(areFull: boolean, next: Mark, fullPerMs: number): number {
    if (areFull) return fullPerMs;
    if (next !== this.last) return Number.POSITIVE_INFINITY;
    const { pacePerMs } = next;
    return pacePerMs === Number.POSITIVE_INFINITY ? fullPerMs : Math.max(pacePerMs, fullPerMs);
  }
}
