import { CongestionSamples, type RateBounds } from './congestion-samples.ts';
import { type Cycle, isOfWindow } from './cycle.ts';
import { IDLE_PART, LONGEST_WINDOW_MS } from './first-stop.ts';
import { nextRate } from './next-rate.ts';
import { LEAST_DOUBLING, type RateProbing } from './rate-probing.ts';
import { UnsavedLimit } from './unsaved-limit.ts';

/** The pace has grown in a cycle if its last pace exceeds the mean accepted rate by this factor. */
const GREW = 1.15;
/**
 * A rate with this much evidence is sure. A closure that would change it may be an outage if it is
 * longer than this number of intervals.
 */
const SURE_EVIDENCE = 20;
const OUTAGE_INTERVALS = 4;
/** The number where the rate is not sure, for a closure that no window of a minute explains. */
const UNSURE_INTERVALS = 100;
/** A closure is an outage only if it would lower the rate below this share. */
const OUTAGE_PART = 0.5;
/** A rate that a long closure lowers below this share is uncertain. */
const FELL = 0.9;
/** The most evidence that is kept after an outage or an interruption. */
const EVIDENCE_AFTER = 50;
/**
 * A rate has fallen far if it is below this share of the last one with much evidence, and below one
 * attempt a second: growth that needs several attempts takes minutes there.
 */
const FAR_PART = 1 / 8;
const SLOW_PER_MS = 1e-3;
/** A cycle that accepts no more than this may only have interrupted the last closure. */
const STRAY = 2;

/** The rate that the provider accepts, measured anew at the end of each closure. */
export class MeasuredRate {
  /** The rate, per ms; 0 if there is none. */
  perMs = 0;
  private marks: CongestionSamples | undefined = undefined;
  private _evidence = 1;
  /** The last rate with much evidence, per ms. */
  private provenPerMs = 0;
  private _bounds: RateBounds | undefined = undefined;
  private readonly unsaved = new UnsavedLimit();
  /**
   * Whether a few attempts, accepted by chance, only interrupted the last closure. That counts only
   * once in a row.
   */
  private wasStray = false;
  /** Whether the last closure was an outage. */
  private wasOutage = false;

  /** Whether anything was measured. */
  get isKnown(): boolean {
    return this.marks !== undefined;
  }

  /** The number of accepted attempts behind the rate. */
  get evidence(): number {
    return this._evidence;
  }

  get isSure(): boolean {
    return this._evidence >= SURE_EVIDENCE;
  }

  /** Whether it is far below the last rate with much evidence: an incident may have lowered it. */
  get hasFallenFar(): boolean {
    return this.perMs < Math.min(SLOW_PER_MS, FAR_PART * this.provenPerMs);
  }

  /** Undefined until two closures were measured. */
  get bounds(): RateBounds | undefined {
    return this._bounds;
  }

  /** Begins with a rate that was measured before, for example in another process. */
  begin(perMs: number, now: number, probing: RateProbing): void {
    this.first(perMs, EVIDENCE_AFTER, now, now);
    this._evidence = SURE_EVIDENCE;
    probing.plan(1 / SURE_EVIDENCE, SURE_EVIDENCE);
  }

  /** Sets the rate that the first closure showed. @param accepted attempts until then */
  first(perMs: number, accepted: number, from: number, to: number): void {
    this.perMs = perMs;
    if (accepted >= EVIDENCE_AFTER) this.provenPerMs = perMs;
    this._evidence = 1;
    this.marks = new CongestionSamples(from, to);
  }

  /** Nothing is known about the time from `from` to `to`: the provider may have saved capacity. */
  interrupted(from: number, to: number): void {
    this.restart(from, to);
    this._evidence = Math.min(this._evidence, EVIDENCE_AFTER);
  }

  /** The limit has changed by a factor. */
  scale(factor: number): void {
    this.perMs *= factor;
    this.provenPerMs *= factor;
    this.marks?.scale(factor);
    if (this._bounds !== undefined) this._bounds = this.marks?.bounds();
  }

  /** The next measurement begins after this time. The rate stays. */
  restart(from: number, to: number): void {
    this.marks?.restart(from, to);
  }

  /**
   * Measures the rate at the end of a cycle.
   * @param probing plans what is tried next
   * @returns false if an outage ended the cycle, so that it shows nothing about the rate
   */
  measure(cycle: Cycle, probing: RateProbing): boolean {
    const { marks } = this;
    if (marks === undefined) return false;
    const isOutage = this.isOutage(cycle);
    marks.skip(cycle.idleMs + cycle.lateMs);
    if (isOutage) this.skipOutage(marks, cycle, probing);
    else this.follow(marks, cycle, probing);
    this.wasOutage = isOutage;
    if (this._evidence >= EVIDENCE_AFTER) this.provenPerMs = this.perMs;
    return !isOutage;
  }

  private isOutage({ isOutage, accepted, closedMs, ms }: Cycle): boolean {
    const { perMs } = this;
    // If outages follow each other until the rate is not sure any more, the limit may be the cause.
    const isAgain = this.wasOutage && !this.isSure;
    if (isOutage && !isAgain) return true;
    if (accepted / ms >= OUTAGE_PART * perMs) return false;
    const intervals = closedMs * perMs;
    const mayBeWindow = closedMs <= LONGEST_WINDOW_MS;
    if (!this.isSure) return intervals > UNSURE_INTERVALS && !mayBeWindow && !isAgain;
    // After few attempts, a limit that has fallen may have closed, but not for longer than a window.
    return intervals > OUTAGE_INTERVALS && (accepted >= SURE_EVIDENCE || !mayBeWindow);
  }

  /** Leaves the duration of the closure out. */
  private skipOutage(marks: CongestionSamples, cycle: Cycle, probing: RateProbing): void {
    const { accepted, to, pacePerMs } = cycle;
    marks.skip(cycle.closedMs);
    marks.add({ accepted, from: to, to, isFull: false, pacePerMs });
    // If outages follow each other, the rate may be wrong.
    const evidence = this.wasOutage ? this._evidence / 2 : this._evidence;
    this._evidence = Math.min(evidence, EVIDENCE_AFTER);
    probing.excess = 1 / this._evidence;
  }

  private follow(marks: CongestionSamples, cycle: Cycle, probing: RateProbing): void {
    const { accepted, ms, idleMs, pacePerMs } = cycle;
    this.wasStray = !this.wasStray && isStray(marks, cycle);
    this.add(marks, cycle, probing);
    const before = this.perMs;
    const bounds = marks.bounds();
    if (bounds !== undefined) this.choose(bounds, probing);
    const isLong = isOfWindow(cycle);
    if (!isLong && !this.wasStray && idleMs === 0) {
      this.perMs = this.unsaved.next(accepted, accepted / ms, pacePerMs, this.perMs);
    }
    // The duration of the closure alone lowered the rate, and it may have had another cause.
    if (this.perMs < FELL * before && isLong) {
      this._evidence = Math.min(this._evidence, LEAST_DOUBLING);
      probing.plan(1 / this._evidence, LEAST_DOUBLING);
    }
  }

  /** Adds the cycle to the measurements. */
  private add(marks: CongestionSamples, cycle: Cycle, probing: RateProbing): void {
    const { accepted, openMs, idleMs, pacePerMs, to } = cycle;
    const from = Math.min(to, cycle.from + cycle.lateMs);
    if (this.wasStray) {
      marks.prolong(accepted, from, to);
      return;
    }
    const grew = pacePerMs > (GREW * (accepted + 1)) / openMs;
    // From the last known end of the closure on, the provider may have been open unnoticed.
    const ms = Math.max(1, cycle.ms - (to - from));
    probing.cycled(isOfWindow(cycle), accepted, ms, grew ? pacePerMs : 0, this.perMs);
    const isFull = !grew && idleMs < IDLE_PART * (to - cycle.startedAt);
    marks.add({ accepted, from, to, isFull, pacePerMs });
  }

  /** Chooses a rate within the measured bounds. */
  private choose(bounds: RateBounds, probing: RateProbing): void {
    this._bounds = bounds;
    const { perMs, evidence, excess } = nextRate(bounds, this.perMs);
    this.perMs = perMs;
    this._evidence = evidence;
    probing.plan(excess, evidence, bounds.hasChanged);
  }
}

/** Whether a few attempts, accepted by chance, only interrupted the closure before. */
function isStray(marks: CongestionSamples, { accepted, idleMs, openMs, gapMs }: Cycle): boolean {
  return marks.hasRow && accepted <= STRAY && idleMs === 0 && openMs < gapMs;
}
