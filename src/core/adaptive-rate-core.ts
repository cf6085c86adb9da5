import type { Tell } from '../model/facts.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Reading } from '../model/reading.ts';
import { CAP_TEST_MS, CapGuess } from './adaptive-rate/cap-guess.ts';
import type { Past } from './adaptive-rate/dimension.ts';
import type { OverloadLimit } from './adaptive-rate/overload-limit.ts';
import type { RateControl, Sending } from './adaptive-rate/rate-control.ts';
import { NOTHING_KNOWN, type RateSnapshot } from './adaptive-rate/rate-snapshot.ts';
import type { Core, Demand, Ended, Time } from './core.ts';
import type { Growth } from './slots.ts';

/** What is in force of the rate and of the concurrency. */
export interface AdaptiveRateSnapshot extends RateSnapshot {
  /** Requests in flight at the most. */
  readonly limit: number;
}

/** An attempt that is out. */
interface Out {
  readonly sending: Sending;
  /** Attempts in flight when it was sent, itself included. */
  readonly inFlight: number;
  /** When it was sent, at the latest. */
  readonly sentAt: number;
}

/** What an attempt was charged: while it sleeps, the number of the attempt. */
export type RateCharge = Out | number;

/** What needs to be around it. */
export interface RateSurroundings {
  /** Makes the control, of what was sent before. */
  readonly control: (past: Past) => RateControl;
  readonly concurrency: OverloadLimit;
  /** Sets the concurrency limit. */
  readonly apply: (limit: number) => void;
  readonly tell: Tell;
}

/** How often the concurrency limit is looked at. */
const LOOK_MS = 250;
/** The same where nothing has ended since. */
const RELOOK_MS = 1_000;

/** For so long after a rejection what was learned is worth keeping where nobody sends. */
const LEARNED_FOR_MS = 60_000;

/**
 * Holds attempts back to the rate that the provider accepts, and moves the concurrency limit. It may
 * sleep until the first rejection, or the first limit that an answer tells of: until then it costs
 * next to nothing, and a charge is the number of its attempt.
 */
export class AdaptiveRateCore implements Core<RateCharge>, Growth {
  private readonly around: RateSurroundings;
  private control: RateControl | undefined;
  /** While it sleeps: attempts sent, and since when. */
  private sent = 0;
  private since: number;
  private inFlight = 0;
  private _limit: number;
  private lookedAt: number;
  /** Whether as many were in flight as may be, since the last look. */
  private wasBound = false;
  private wasOut = false;
  private rejectedAt = Number.NEGATIVE_INFINITY;
  /** Of one that slept. */
  private guess: CapGuess | undefined = undefined;
  private wokeAt = Number.NEGATIVE_INFINITY;

  /** @param isAwake whether it holds attempts back from the start */
  constructor(around: RateSurroundings, isAwake: boolean, now: number) {
    this.around = around;
    this.since = now;
    this.lookedAt = now;
    this._limit = around.concurrency.limitAt(now, false);
    this.control = isAwake ? around.control({ sent: 0, since: now }) : undefined;
  }

  get limit(): number {
    return this._limit;
  }

  /** The rate by where it comes from, none while nothing is known. */
  reading(now: number): Pick<Reading, 'rates' | 'rateCeiling' | 'isOut'> {
    const { origin, perSecond, ceilingPerSecond, isOut } = this.snapshot(now);
    const rates = origin === 'start' ? undefined : { [origin]: perSecond };
    return { rates, rateCeiling: ceilingPerSecond, isOut };
  }

  /** Whether nothing is out, and nothing was learned that is worth keeping. */
  isAtRest(now: number): boolean {
    return this.inFlight === 0 && now - this.rejectedAt >= LEARNED_FOR_MS;
  }

  setMaxLimit(maxLimit: number, now: number): void {
    this.around.concurrency.setMax(maxLimit);
    this._limit = this.around.concurrency.limitAt(now, false);
  }

  wait(_demand: Demand, now: number): number {
    const control = this.control;
    if (control === undefined) return 0;
    // Those who wait here hold slots already: a lower limit must stop them too.
    if (this.inFlight >= this._limit) {
      const growMs = this.growMs(now);
      if (this.inFlight >= this._limit) return growMs;
    }
    const waitMs = control.wait(now);
    if (this.wasOut === control.isOut) return waitMs;
    this.outChanged(control.isOut, now);
    // Who was told may have sent something.
    return this.inFlight < this._limit ? control.wait(now) : Number.POSITIVE_INFINITY;
  }

  /** Whether more may be in flight some time. */
  get mayGrow(): boolean {
    return this._limit < this.around.concurrency.max;
  }

  /** Milliseconds until it is to be asked again whether more may be in flight. */
  growMs(now: number): number {
    const sinceMs = now - this.lookedAt;
    if (sinceMs < RELOOK_MS) return Math.max(1, RELOOK_MS - sinceMs);
    // None of those in flight has ended: they may hang, all of them.
    if (this.inFlight >= this._limit) this.wasBound = true;
    this.look(now);
    return RELOOK_MS;
  }

  take(demand: Demand, now: number): RateCharge {
    this.inFlight += 1;
    const control = this.control;
    if (control === undefined) {
      if (this.sent === 0) this.since = now;
      this.sent += 1;
      return this.sent;
    }
    if (this.inFlight >= this._limit) this.wasBound = true;
    const sending = control.take(control.countsTokens ? demand.tokens : 0, now);
    return { sending, inFlight: this.inFlight, sentAt: now };
  }

  giveBack(charge: RateCharge, ended: Ended, time: Time): void {
    const inFlight = this.inFlight;
    this.inFlight -= 1;
    if (this.control === undefined && !tellsSomething(ended.verdict)) return;
    const now = time.now();
    const out = typeof charge === 'number' ? this.early(charge, inFlight, now) : charge;
    this.ended(out, ended, now);
    // Not when one is sent: who is told, or let in, would pass before that is charged elsewhere.
    if (now - this.lookedAt >= LOOK_MS) this.look(now);
  }

  snapshot(now: number): AdaptiveRateSnapshot {
    return { limit: this._limit, ...(this.control?.snapshot(now) ?? NOTHING_KNOWN) };
  }

  /** An attempt that was sent while it slept. @param inFlight those that are so now */
  private early(charge: number, inFlight: number, now: number): Out {
    const { control, concurrency } = this.around;
    if (this.control === undefined) {
      this.control = control({ sent: this.sent, since: this.since });
      this.guess = new CapGuess(concurrency);
      this.wokeAt = now;
    }
    const sending = this.control.early(charge - 1, now);
    const over = this.sent - inFlight;
    return { sending, inFlight: Math.max(1, charge - over), sentAt: this.wokeAt };
  }

  private ended(out: Out, { isSent, verdict, usage }: Ended, now: number): void {
    const { sending } = out;
    const control = this.control;
    if (control === undefined) return;
    if (!isSent || verdict === undefined || verdict.kind === 'failed') {
      control.ended(sending, isSent, now);
    } else if (verdict.kind === 'throttled' || verdict.kind === 'overloaded') {
      this.rejected(control, out, verdict, now);
    } else control.accepted(sending, verdict, usage?.tokens, now);
    if (this.wasOut !== control.isOut) this.outChanged(control.isOut, now);
  }

  private rejected(control: RateControl, out: Out, verdict: Verdict, now: number): void {
    const { sending, inFlight, sentAt } = out;
    const { concurrency, tell } = this.around;
    const isOverload = verdict.kind === 'overloaded';
    const isCap = !isOverload && this.guess?.isMeant(verdict, sentAt, inFlight - 1) === true;
    this.rejectedAt = now;
    const from = control.perSecond;
    if (control.rejected(sending, verdict, now, isCap)) {
      const to = control.snapshot(now).ceilingPerSecond ?? from;
      tell({ kind: 'rateAdapted', at: now, from, to });
    }
    if (isCap && this.inFlight === 0) control.rest(now);
    if (isCap && this.guess?.isGivenUp) {
      concurrency.forgive();
      control.restart(now);
    } else if (!control.isOut && (isOverload || isCap)) {
      const holdMs = isCap ? CAP_TEST_MS : undefined;
      concurrency.overloaded(sentAt, inFlight, now, this.inFlight, holdMs);
    } else return;
    this.look(now);
  }

  private look(now: number): void {
    this.lookedAt = now;
    const from = this._limit;
    const to = this.around.concurrency.limitAt(now, this.wasBound);
    this.wasBound = false;
    if (to === from) return;
    this._limit = to;
    this.around.apply(to);
    this.around.tell({ kind: 'limitAdapted', at: now, from, to });
  }

  private outChanged(isOut: boolean, now: number): void {
    this.wasOut = isOut;
    if (isOut) {
      this.around.concurrency.forgive();
      this.look(now);
    }
    this.around.tell({ kind: isOut ? 'outageStarted' : 'outageEnded', at: now });
  }
}

/** Whether an answer is worth waking up for. */
function tellsSomething(verdict: Verdict | undefined): boolean {
  if (verdict === undefined) return false;
  return (
    verdict.kind === 'throttled' || verdict.kind === 'overloaded' || verdict.limits !== undefined
  );
}
