import { Closure } from './closure.ts';
import { CongestionSamples, type RateBounds } from './congestion-samples.ts';
import { LEAST_DOUBLING, RateProbing } from './rate-probing.ts';
import { RejectionDamping } from './rejection-damping.ts';
import { SavedBurst } from './saved-burst.ts';
import type { SentAttempt } from './sent-attempt.ts';

/** Evidence beyond so many attempts makes the rate no surer: providers change. */
const MOST_EVIDENCE = 400;
/** The first excess that is tried where the rate is not known well. */
const LEAST_EXCESS = 0.05;
const MOST_EXCESS = 1;
/** Bounds that lie no further apart are one rate. */
const WIDE = 1.5;
/** Where they do, the way from the lower to the upper bound at which the next try lies, as a power. */
const TRY = 0.25;
/** Nothing lowers the rate by more than this at once: a closed window looks like no rate at all. */
const MOST_FALL = 4;
/** Accepted so much faster than the pace began, it was the pace that grew. */
const GREW = 1.15;
/** Part of the time without demand from which a measurement is of the demand. */
const IDLE_PART = 0.05;
/** A rate that rests on so much evidence is kept when nothing is let in for so long ... */
const SURE_EVIDENCE = 20;
const OUTAGE_INTERVALS = 4;
/** ... that it would have fallen below this part: such a closure has other reasons. */
const OUTAGE_PART = 0.5;
/** Where a rate falls below this part, and it was closed for this part of the time, it is not sure. */
const FELL = 0.9;
const CLOSED_PART = 0.1;
/** After an outage it is less sure than it was. */
const EVIDENCE_AFTER = 50;
/** What was sent and accepted before anything was rejected. */
export interface Past {
  readonly accepted: number;
  /** When the first of it was sent; of no meaning where nothing was accepted. */
  readonly firstAt: number;
}

/**
 * The rate that the provider accepts, learned from what it accepted and rejected, in the order of
 * sending. After each closure the rate is measured anew; then more is tried, the faster the less the
 * measurement rests on, and faster still the longer nothing is rejected.
 */
export class RateEstimate {
  private readonly hardPerMs: () => number;
  private marks: CongestionSamples | undefined = undefined;
  private perMs = 0;
  private evidence = 1;
  private readonly probing = new RateProbing();
  private closure: Closure | undefined = undefined;
  private readonly damping = new RejectionDamping();
  private firstAt: number | undefined;
  private accepted: number;
  private idleMs = 0;
  /** When the last closure ended. */
  private openedAt = 0;
  /** From the last rejection of that closure to its end. */
  private gapMs = 0;
  /** Whether that was only interrupted: a few that were let in by chance end no closure, but once. */
  private wasStray = false;
  /** What does not count in the times of marks. */
  private skippedMs = 0;
  /** What was accepted before the first closure. */
  private mostAtOnce = 0;
  private readonly burst = new SavedBurst();
  private _bounds: RateBounds | undefined = undefined;

  /** @param hardPerMs the rate of a limit that was configured; Infinity: none was */
  constructor({ accepted, firstAt }: Past, hardPerMs: () => number) {
    this.hardPerMs = hardPerMs;
    this.accepted = accepted;
    this.firstAt = accepted > 0 ? firstAt : undefined;
  }

  /** Begins with a rate that was measured before, in another process say. */
  begin(perMs: number, now: number): void {
    this.perMs = perMs;
    this.evidence = SURE_EVIDENCE;
    this.probing.plan(1 / SURE_EVIDENCE, SURE_EVIDENCE);
    this.marks = new CongestionSamples({ from: now, to: now });
    this.openedAt = now;
    this.probing.start(perMs, now, 0);
  }

  /** Whether anything was measured. */
  get isKnown(): boolean {
    return this.marks !== undefined;
  }

  /** What was measured, per ms; 0: nothing was. */
  get measuredPerMs(): number {
    return this.perMs;
  }

  /** Accepted attempts that it rests on. */
  get restsOn(): number {
    return this.evidence;
  }

  get bounds(): RateBounds | undefined {
    return this._bounds;
  }

  /** Attempts that may be sent at once after a time without demand. */
  get saved(): number {
    return this.burst.size;
  }

  /** At what pace to send now, per ms; Infinity: nothing was measured. */
  get pacePerMs(): number {
    if (this.marks === undefined) return Number.POSITIVE_INFINITY;
    return this.probing.paceOf(this.sentPerMs);
  }

  /** What is rejected at any rate takes nothing of it: so much more is sent. */
  private get sentPerMs(): number {
    return this.perMs / (1 - this.damping.share);
  }

  /**
   * Takes in an attempt of which, and of all sent before, it is known what became.
   * @param horizonMs within which rejections come back
   * @param namedUntil until when the provider asked to send nothing; -Infinity: it did not
   * @returns whether the rate was measured anew
   */
  settled(sent: SentAttempt, namedUntil: number, horizonMs: number): boolean {
    this.firstAt ??= sent.at;
    this.damping.settled();
    this.idleMs += sent.idleMs;
    this.burst.settled(sent, this.perMs);
    if (sent.outcome === 'rejected') {
      this.reject(sent);
      return false;
    }
    const { closure } = this;
    const hasReopened = closure !== undefined && sent.order >= closure.noticedAt;
    const isByChance = hasReopened && this.isByChance(closure);
    if (isByChance) {
      this.closure = undefined;
      this.probing.start(this.sentPerMs, sent.at, sent.order);
    } else if (hasReopened) this.reopened(closure, sent, namedUntil);
    this.accepted += 1;
    this.probing.accepted(sent, horizonMs);
    return hasReopened && !isByChance;
  }

  private isByChance({ rejected, pacePerMs, isBySaved }: Closure): boolean {
    if (rejected > 1 || isBySaved || this.marks === undefined) return false;
    if (pacePerMs === Number.POSITIVE_INFINITY || !this.damping.isByChance(pacePerMs)) return false;
    this.perMs = Math.max(this.perMs, this.damping.ratePerMs);
    return true;
  }

  private reject(sent: SentAttempt): void {
    if (this.closure === undefined) {
      this.closure = new Closure(sent);
      if (this.closure.isBySaved) this.burst.isTooMuch(sent.at, this.perMs);
    }
    this.closure.add(sent, this.accepted, this.idleMs);
  }

  private reopened(closure: Closure, sent: SentAttempt, namedUntil: number): void {
    this.closure = undefined;
    const to = sent.at;
    if (closure.isOutage && this.marks === undefined) {
      // It was open until then: nothing is known of a limit.
      this.firstAt = (this.firstAt ?? to) + to - closure.startedAt;
      return;
    }
    this.accepted -= closure.accepted;
    this.idleMs -= closure.idleMs;
    // Where the provider has named the end of it, it was closed until then.
    const from = Math.min(to, Math.max(closure.lastAt, namedUntil));
    if (this.marks === undefined) this.firstMeasure(closure, from, to);
    else if (closure.isBySaved) {
      this.skippedMs = 0;
      this.marks.restart(from, to);
    } else this.measure(this.marks, closure, from, to);
    this.gapMs = to - from;
    this.openedAt = to;
    const unearned = Math.min(this.mostAtOnce, this.perMs * (to - closure.startedAt));
    this.probing.start(this.sentPerMs, to, sent.order, unearned);
  }

  /** The first closure: what was accepted until then is a window's limit at the most. */
  private firstMeasure({ accepted }: Closure, from: number, to: number): void {
    const least = Math.max(1, accepted);
    this.perMs = least / Math.max(1, to - (this.firstAt ?? from));
    const hardPerMs = this.hardPerMs();
    // One closure is no reason to doubt a limit that was configured.
    if (hardPerMs !== Number.POSITIVE_INFINITY) this.perMs = Math.max(this.perMs, hardPerMs);
    this.evidence = 1;
    this.probing.plan(Math.min(MOST_EXCESS, Math.max(1 / least, 2 * LEAST_EXCESS)), least);
    this.mostAtOnce = least;
    this.burst.begin(least);
    this.marks = new CongestionSamples({ from, to });
  }

  private measure(marks: CongestionSamples, closure: Closure, from: number, to: number): void {
    const { accepted, idleMs, startedAt, pacePerMs } = closure;
    const closedMs = to - startedAt;
    const openMs = Math.max(1e-3, startedAt - this.openedAt - idleMs);
    const isOutage =
      closure.isOutage ||
      (Math.min(this.evidence, accepted) >= SURE_EVIDENCE &&
        closedMs * this.perMs > OUTAGE_INTERVALS &&
        accepted / (openMs + closedMs) < OUTAGE_PART * this.perMs);
    if (isOutage) {
      this.skippedMs += idleMs + closedMs;
      const at = to - this.skippedMs;
      marks.add({ accepted, from: at, to: at, isFull: false, pacePerMs });
      this.evidence = Math.min(this.evidence, EVIDENCE_AFTER);
      this.probing.excess = 1 / this.evidence;
      return;
    }
    const isStray =
      !this.wasStray && marks.hasRow && accepted <= 2 && idleMs === 0 && openMs < this.gapMs;
    this.wasStray = isStray;
    if (isStray) marks.prolong(accepted, from - this.skippedMs, to - this.skippedMs);
    else {
      const grew = pacePerMs > (GREW * (accepted + 1)) / openMs;
      const isFull = !grew && idleMs < IDLE_PART * (to - this.openedAt);
      this.skippedMs += idleMs;
      const [begin, end] = [from - this.skippedMs, to - this.skippedMs];
      marks.add({ accepted, from: begin, to: end, isFull, pacePerMs });
    }
    const before = this.perMs;
    const bounds = marks.bounds();
    if (bounds !== undefined) this.follow(bounds);
    // It has fallen by the closure alone, which may have had other reasons.
    if (this.perMs < FELL * before && closedMs > CLOSED_PART * (openMs + closedMs)) {
      this.evidence = Math.min(this.evidence, LEAST_DOUBLING);
      this.probing.plan(1 / this.evidence, LEAST_DOUBLING);
    }
  }

  private follow(bounds: RateBounds): void {
    const { least, most, best, evidence, isFull } = bounds;
    const before = this.perMs;
    this._bounds = bounds;
    const width = most / least;
    if (width <= WIDE) {
      this.perMs = best;
      this.evidence = Math.max(1, evidence);
    } else {
      this.perMs = least * width ** TRY;
      this.evidence = Math.max(1, Math.min(evidence, 1 / (width - 1)));
    }
    if (this.perMs < before / MOST_FALL) {
      this.perMs = before / MOST_FALL;
      this.evidence = 1;
    }
    const excess = isFull
      ? Math.min(MOST_EXCESS, 1 / Math.min(MOST_EVIDENCE, this.evidence))
      : Math.max(LEAST_EXCESS, 1 / Math.max(1, evidence));
    this.probing.plan(excess, this.evidence);
  }
}
