import type { ReportedLimit } from '../../model/feedback.ts';
import { Pacer } from './pacer.ts';
import { EXACT_PART, ReportedRate } from './reported-rate.ts';
import type { UnitCharge } from './sent-attempt.ts';

/** Where the rate comes from that is in force; `start`: nothing is known yet. */
export type RateOrigin = 'start' | 'limit' | 'headers' | 'learned';

/** A rate that was learned, and is as near as this to the one that is told, is that one. */
const NEAR = 0.05;

/** Timers of a busy process are no later than this. */
const LATE_MS = 10;

/** One thing that a provider counts, requests or tokens: the rates that are known of it, and its pace. */
export class UnitRate {
  private readonly reported = new ReportedRate();
  private readonly pacer = new Pacer(Number.POSITIVE_INFINITY);
  private readonly hardPerMs: () => number;
  private _origin: RateOrigin = 'start';
  private usualPerMs = Number.POSITIVE_INFINITY;
  private order = 0;
  private sent = 0;
  private lost = 0;

  /** @param hardPerMs the rate of a limit that was configured, asked each time; Infinity: none was */
  constructor(hardPerMs: () => number) {
    this.hardPerMs = hardPerMs;
  }

  /** Per ms, as of the last time that it was asked for. */
  get perMs(): number {
    return this.pacer.ratePerMs;
  }

  /** The same; of a limit of which what is left may be sent at once, and of one that is kept elsewhere, what that comes to. */
  get meanPerMs(): number {
    const { ratePerMs } = this.pacer;
    return ratePerMs === Number.POSITIVE_INFINITY ? this.usualPerMs : ratePerMs;
  }

  get origin(): RateOrigin {
    return this._origin;
  }

  /**
   * Timers are late: what may be made up for, in ms. A learned pace may be that of a limit that wants
   * each request so far from the last, where it is only made up for if it is too short for timers.
   */
  get lateMs(): number {
    const stepMs = 1 / this.perMs;
    return stepMs < LATE_MS || this._origin !== 'learned' ? LATE_MS : 0;
  }

  /** When the next may go, in ms of the clock. */
  get freeAt(): number {
    return this.pacer.freeAt;
  }

  /**
   * Milliseconds until the next may go.
   * @param learnedPerMs what was learned from rejections; Infinity: nothing
   */
  wait(learnedPerMs: number, now: number, cost = 1): number {
    this.pacer.setRate(this.rateAt(learnedPerMs, now), now);
    const coveredMs = this.reported.wait(cost, this.sent - this.lost, now);
    return Math.max(this.pacer.wait(now), coveredMs);
  }

  /** Whether the next has to wait for the pace. */
  isPacing(now: number): boolean {
    return this.pacer.wait(now) > 0;
  }

  /** @param savedMs how much of what was not sent in time may be sent at once */
  take(cost: number, now: number, savedMs = 0): UnitCharge {
    const isOwed = this.pacer.ratePerMs !== Number.POSITIVE_INFINITY;
    const charge = { at: now, order: this.order, total: this.sent, cost, isOwed };
    this.order += 1;
    this.sent += cost;
    this.pacer.take(cost, now, savedMs);
    return charge;
  }

  /** What an attempt has really cost. */
  settle({ cost, order, isOwed }: UnitCharge, actual: number): void {
    const more = actual - cost;
    this.sent += more;
    if (isOwed) this.pacer.giveBack(-more);
    this.reported.corrected(order, more);
  }

  /** It was not accepted. @param isUnsent nor even sent */
  reject({ cost, isOwed }: UnitCharge, isUnsent: boolean): void {
    this.lost += cost;
    if (isUnsent && isOwed) this.pacer.giveBack(cost);
  }

  /** Nothing goes before this time. */
  delayUntil(at: number): void {
    this.pacer.delayUntil(at);
  }

  /**
   * What an answer says of the limit.
   * @param isAccepted whether the attempt itself counts in it
   * @returns whether it explains a rejection, so that nothing else is to be learned from that
   */
  report(limit: ReportedLimit, charge: UnitCharge, isAccepted: boolean, now: number): boolean {
    const { lost, reported } = this;
    const total = charge.total - lost;
    reported.reported(limit, { ...charge, total }, isAccepted, this.sent - lost, now);
    return !isAccepted && reported.isExact && (limit.remaining ?? charge.cost) < charge.cost;
  }

  private rateAt(learned: number, now: number): number {
    const told = this.reported.rateAt(this.sent - this.lost, now) ?? Number.POSITIVE_INFINITY;
    const headers = Math.min(told, this.exactly(learned, now));
    const hard = this.hardPerMs() * EXACT_PART;
    const rate = Math.min(learned, headers, hard);
    const usual = this.reported.usualPerMs(now) ?? Number.POSITIVE_INFINITY;
    this.usualPerMs = Math.min(usual, hard);
    if (rate === Number.POSITIVE_INFINITY) {
      this._origin = usual === Number.POSITIVE_INFINITY ? 'start' : 'headers';
    } else if (rate === hard) this._origin = 'limit';
    else this._origin = rate === headers ? 'headers' : 'learned';
    // A policy of its own keeps to what was configured, and lets go at once what that saves.
    const isPaced = learned !== Number.POSITIVE_INFINITY || rate < hard;
    return isPaced ? rate : Number.POSITIVE_INFINITY;
  }

  /** The limit that is told, if what was learned is as good as that. */
  private exactly(learned: number, now: number): number {
    const told = this.reported.toldPerMs(now);
    if (told === undefined) return Number.POSITIVE_INFINITY;
    const isNear = Math.abs(learned / told - 1) < NEAR;
    return isNear ? EXACT_PART * told : Number.POSITIVE_INFINITY;
  }
}
