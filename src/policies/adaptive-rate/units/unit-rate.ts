import type { ReportedLimit } from '../../../model/feedback.ts';
import type { UnitCharge } from '../attempts/sent-attempt.ts';
import { EXACT_PART } from '../reported/drifting-rate.ts';
import type { KnownLimit } from '../reported/report.ts';
import { ReportedRate } from '../reported/reported-rate.ts';
import { Pacer } from './pacer.ts';

/** The source of the rate in force; `start`: nothing is known yet. */
export type RateOrigin = 'start' | 'limit' | 'headers' | 'learned';

/** A learned rate this close to the reported one counts as the reported one. */
const NEAR = 0.05;

/** The greatest delay of timers in a busy process. */
const LATE_MS = 10;

/** One unit that a provider limits: its known rates, and its pace. */
export class UnitRate {
  /** What answers report of its limit. */
  readonly reported = new ReportedRate();
  readonly #pacer = new Pacer(Number.POSITIVE_INFINITY);
  readonly #hardPerMs: () => number;
  #origin: RateOrigin = 'start';
  #usualPerMs = Number.POSITIVE_INFINITY;
  #order: number;
  #sent: number;
  #lost = 0;

  /**
   * @param hardPerMs the rate of a configured limit, read each time; Infinity if there is none
   * @param count how many charges there were before it was known, and their sum
   */
  constructor(hardPerMs: () => number, count = 0, sent = 0) {
    this.#hardPerMs = hardPerMs;
    this.#order = count;
    this.#sent = sent;
  }

  /** The number of charges so far, and their sum. */
  get count(): number {
    return this.#order;
  }

  get sent(): number {
    return this.#sent;
  }

  /** The sum of the charges that were not rejected. */
  get #total(): number {
    return this.#sent - this.#lost;
  }

  /** The last computed rate, per ms. */
  get perMs(): number {
    return this.#pacer.ratePerMs;
  }

  /**
   * The last computed rate, per ms. If there is none, because the amount left may be sent at once
   * or another policy enforces the limit, the rate of that limit.
   */
  get meanPerMs(): number {
    const { ratePerMs } = this.#pacer;
    return ratePerMs === Number.POSITIVE_INFINITY ? this.#usualPerMs : ratePerMs;
  }

  get origin(): RateOrigin {
    return this.#origin;
  }

  /**
   * The delay of timers that later attempts may make up for, in ms. A learned pace may come from a
   * limit on the interval between requests; then only intervals that are too short for timers are
   * made up for.
   */
  get lateMs(): number {
    const stepMs = 1 / this.perMs;
    return stepMs < LATE_MS || this.#origin !== 'learned' ? LATE_MS : 0;
  }

  /** When the next attempt may be sent, by the clock, in ms. */
  get freeAt(): number {
    return this.#pacer.freeAt;
  }

  /**
   * Milliseconds until the next attempt may be sent.
   * @param learnedPerMs the rate learned from rejections; Infinity if there is none
   */
  wait(learnedPerMs: number, now: number, cost = 1): number {
    this.#pacer.setRate(this.#rateAt(learnedPerMs, now), now);
    return Math.max(this.#pacer.wait(now), this.heldMs(cost, now));
  }

  /** Milliseconds until the reported limit permits this amount. */
  heldMs(cost: number, now: number): number {
    return this.reported.wait(cost, this.#total, now);
  }

  /**
   * The amount that the reported limit permits at once; Infinity if it sets no bound.
   * @param cost the cost of a usual attempt
   */
  left(cost: number, now: number): number {
    return this.reported.left(cost, this.#total, now);
  }

  /** Whether the next attempt has to wait for the pace. */
  isPacing(now: number): boolean {
    return this.#pacer.wait(now) > 0;
  }

  /** How much unused time may be made up for, in ms: what reports say is left covers it. */
  unusedMs(now: number): number {
    return this.reported.unused(this.#total, now) / this.perMs;
  }

  /** @param savedMs how much unused time may be used at once */
  take(cost: number, now: number, savedMs = 0): UnitCharge {
    const isOwed = this.#pacer.ratePerMs !== Number.POSITIVE_INFINITY;
    const charge = { at: now, order: this.#order, total: this.#sent, cost, isOwed };
    this.#order += 1;
    this.#sent += cost;
    this.#pacer.take(cost, now, savedMs);
    return charge;
  }

  /** There was no demand before the next attempt. */
  resumed(now: number): void {
    this.reported.resumed(this.#total, now);
  }

  /** Records the real cost of an attempt. */
  settle({ cost, order, isOwed }: UnitCharge, actual: number): void {
    const more = actual - cost;
    this.#sent += more;
    if (isOwed) this.#pacer.giveBack(-more);
    this.reported.corrected(order, more);
  }

  /** The attempt was not accepted. @param isUnsent whether it was never sent */
  reject({ cost, isOwed }: UnitCharge, isUnsent: boolean): void {
    this.#lost += cost;
    if (isUnsent && isOwed) this.#pacer.giveBack(cost);
  }

  /** No attempt is sent before this time. */
  delayUntil(at: number): void {
    this.#pacer.delayUntil(at);
  }

  /**
   * Records what an answer reports of the limit.
   * @param limit undefined if it reports nothing
   * @param charge that of the attempt; undefined if it was sent too long ago
   * @param isAccepted whether the attempt itself is part of the usage
   * @returns whether it explains a rejection, so that nothing else is learned from it
   */
  report(
    limit: ReportedLimit | undefined,
    charge: UnitCharge | undefined,
    isAccepted: boolean,
    now: number,
  ): boolean {
    if (limit === undefined) {
      if (isAccepted) this.reported.missing(charge?.at ?? now);
      return false;
    }
    if (charge === undefined) return false;
    const lost = this.#lost;
    const total = charge.total - lost;
    this.reported.record(limit, { ...charge, total }, isAccepted, this.#sent - lost, now);
    return !isAccepted && this.reported.isExact && (limit.remaining ?? charge.cost) < charge.cost;
  }

  /**
   * Continues with a limit that was reported before. What is used of it counts as our own: as the
   * use of others it would make the limit look shared.
   * @param known what its reports have shown to another learner
   */
  continue(limit: ReportedLimit, known: KnownLimit, at: number): void {
    this.reported.continue(known, at);
    this.#sent += Math.max(0, (limit.limit ?? 0) - (limit.remaining ?? 0));
    const charge = { at, order: -1, total: this.#sent, cost: 0, isOwed: false };
    this.reported.record(limit, charge, true, this.#sent, at);
  }

  #rateAt(learned: number, now: number): number {
    const told = this.reported.rateAt(this.#total, now) ?? Number.POSITIVE_INFINITY;
    const headers = Math.min(told, this.#exactly(learned, now));
    const hard = this.#hardPerMs() * EXACT_PART;
    const rate = Math.min(learned, headers, hard);
    const usual = this.reported.usualPerMs(now) ?? Number.POSITIVE_INFINITY;
    this.#usualPerMs = Math.min(usual, hard);
    if (rate === Number.POSITIVE_INFINITY) {
      this.#origin = usual === Number.POSITIVE_INFINITY ? 'start' : 'headers';
    } else if (rate === hard) this.#origin = 'limit';
    else this.#origin = rate === headers ? 'headers' : 'learned';
    // Another policy enforces configured limits, and permits bursts of what they saved.
    const isPaced = learned !== Number.POSITIVE_INFINITY || rate < hard;
    return isPaced ? rate : Number.POSITIVE_INFINITY;
  }

  /** The reported rate, if the learned rate is close to it. */
  #exactly(learned: number, now: number): number {
    const told = this.reported.toldPerMs(now);
    if (told === undefined) return Number.POSITIVE_INFINITY;
    const isNear = Math.abs(learned / told - 1) < NEAR;
    return isNear ? EXACT_PART * told : Number.POSITIVE_INFINITY;
  }
}
