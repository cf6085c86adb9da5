import type { Tell } from '../model/facts.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Reading } from '../model/reading.ts';
import type { Past } from './adaptive-rate/dimension.ts';
import type { OverloadLimit } from './adaptive-rate/overload-limit.ts';
import type { RateControl, RateSnapshot, Sending } from './adaptive-rate/rate-control.ts';
import type { Core, Demand, Ended, Time } from './core.ts';

/** What is in force of the rate and of the concurrency. */
export interface AdaptiveRateSnapshot extends RateSnapshot {
  /** Requests in flight at the most. */
  readonly limit: number;
}

/** An attempt that is out. */
interface Out {
  readonly sending: Sending;
  /** Attempts in flight, itself included. */
  readonly inFlight: number;
}

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

/** For so long a rate that was learned is worth keeping where nobody sends. */
const LEARNED_FOR_MS = 60_000;

const NOTHING_KNOWN: RateSnapshot = {
  perSecond: Number.POSITIVE_INFINITY,
  origin: 'start',
  ceilingPerSecond: undefined,
  tokens: undefined,
  isOut: false,
  sinceCutMs: undefined,
};

/**
 * Holds attempts back to the rate that the provider accepts, and moves the concurrency limit. It may
 * sleep until the first rejection, or the first limit that an answer tells of: until then it costs
 * next to nothing, and a charge is the number of its attempt.
 */
export class AdaptiveRateCore implements Core<Out | number> {
  readonly #around: RateSurroundings;
  #control: RateControl | undefined;
  /** While it sleeps: attempts sent, and since when. */
  #sent = 0;
  #since: number;
  #inFlight = 0;
  #limit: number;
  #lookedAt: number;
  #wasOut = false;

  /** @param isAwake whether it holds attempts back from the start */
  constructor(around: RateSurroundings, isAwake: boolean, now: number) {
    this.#around = around;
    this.#since = now;
    this.#lookedAt = now;
    this.#limit = around.concurrency.limitAt(now, false);
    this.#control = isAwake ? around.control({ sent: 0, since: now }) : undefined;
  }

  get limit(): number {
    return this.#limit;
  }

  /** The rate by where it comes from, none while nothing is known. */
  reading(now: number): Pick<Reading, 'rates' | 'rateCeiling' | 'isOut'> {
    const { origin, perSecond, ceilingPerSecond, isOut } = this.snapshot(now);
    const rates = origin === 'start' ? undefined : { [origin]: perSecond };
    return { rates, rateCeiling: ceilingPerSecond, isOut };
  }

  /** Whether nothing is out, and nothing was learned that is worth keeping. */
  isAtRest(now: number): boolean {
    const sinceCutMs = this.#control?.snapshot(now).sinceCutMs ?? Number.POSITIVE_INFINITY;
    return this.#inFlight === 0 && sinceCutMs >= LEARNED_FOR_MS;
  }

  setMaxLimit(maxLimit: number, now: number): void {
    this.#around.concurrency.setMax(maxLimit);
    this.#limit = this.#around.concurrency.limitAt(now, false);
  }

  wait(_demand: Demand, now: number): number {
    const control = this.#control;
    if (control === undefined) return 0;
    // Those who wait here hold slots already: a lower limit must stop them too.
    if (this.#inFlight >= this.#limit) return Number.POSITIVE_INFINITY;
    const waitMs = control.wait(now);
    if (this.#wasOut !== control.isOut) this.#outChanged(control.isOut, now);
    return waitMs;
  }

  take(demand: Demand, now: number): Out | number {
    this.#inFlight += 1;
    const control = this.#control;
    if (control === undefined) {
      if (this.#sent === 0) this.#since = now;
      this.#sent += 1;
      return this.#sent;
    }
    const sending = control.take(control.countsTokens ? demand.tokens : 0, now);
    if (now - this.#lookedAt >= LOOK_MS) this.#look(now);
    return { sending, inFlight: this.#inFlight };
  }

  giveBack(charge: Out | number, ended: Ended, time: Time): void {
    const inFlight = this.#inFlight;
    this.#inFlight -= 1;
    const { verdict } = ended;
    if (typeof charge !== 'number') this.#ended(charge, ended, time.now());
    else if (this.#control !== undefined || tellsSomething(verdict)) {
      const now = time.now();
      this.#control ??= this.#around.control({ sent: this.#sent, since: this.#since });
      const sending = this.#control.early(charge - 1, now);
      this.#ended({ sending, inFlight }, ended, now);
    }
  }

  snapshot(now: number): AdaptiveRateSnapshot {
    return { limit: this.#limit, ...(this.#control?.snapshot(now) ?? NOTHING_KNOWN) };
  }

  #ended({ sending, inFlight }: Out, { isSent, verdict, usage }: Ended, now: number): void {
    const control = this.#control;
    if (control === undefined) return;
    if (!isSent || verdict === undefined || verdict.kind === 'failed') {
      control.ended(sending, isSent, now);
    } else if (verdict.kind === 'throttled' || verdict.kind === 'overloaded') {
      this.#rejected(control, { sending, inFlight }, verdict, now);
    } else control.accepted(sending, verdict, usage?.tokens, now);
    if (this.#wasOut !== control.isOut) this.#outChanged(control.isOut, now);
  }

  #rejected(control: RateControl, { sending, inFlight }: Out, verdict: Verdict, now: number): void {
    const from = control.perSecond;
    if (control.rejected(sending, verdict, now)) {
      const to = control.snapshot(now).ceilingPerSecond ?? from;
      this.#around.tell({ kind: 'rateAdapted', at: now, from, to });
    }
    if (verdict.kind !== 'overloaded' || control.isOut) return;
    this.#around.concurrency.overloaded(sending.at, inFlight, now);
    this.#look(now);
  }

  #look(now: number): void {
    this.#lookedAt = now;
    const from = this.#limit;
    const to = this.#around.concurrency.limitAt(now, this.#inFlight >= from);
    if (to === from) return;
    this.#limit = to;
    this.#around.apply(to);
    this.#around.tell({ kind: 'limitAdapted', at: now, from, to });
  }

  #outChanged(isOut: boolean, now: number): void {
    this.#wasOut = isOut;
    if (isOut) {
      this.#around.concurrency.forgive();
      this.#look(now);
    }
    this.#around.tell({ kind: isOut ? 'outageStarted' : 'outageEnded', at: now });
  }
}

/** Whether an answer is worth waking up for. */
function tellsSomething(verdict: Verdict | undefined): boolean {
  if (verdict === undefined) return false;
  return (
    verdict.kind === 'throttled' || verdict.kind === 'overloaded' || verdict.limits !== undefined
  );
}
