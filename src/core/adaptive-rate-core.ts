import type { Tell } from '../model/facts.ts';
import type { Reading } from '../model/reading.ts';
import type { OverloadLimit } from './adaptive-rate/overload-limit.ts';
import type { RateControl, RateSnapshot, Sending } from './adaptive-rate/rate-control.ts';
import type { Core, Demand, Ended, Time } from './core.ts';

/** What is in force of the rate and of the concurrency. */
export interface AdaptiveRateSnapshot extends RateSnapshot {
  /** Requests in flight at the most. */
  readonly limit: number;
}

interface Out {
  readonly sending: Sending;
  /** Attempts in flight, itself included. */
  readonly inFlight: number;
}

/** How often the concurrency limit is looked at. */
const LOOK_MS = 250;

/** Holds attempts back to the rate that the provider accepts, and moves the concurrency limit. */
export class AdaptiveRateCore implements Core<Out> {
  readonly #control: RateControl;
  readonly #concurrency: OverloadLimit;
  readonly #apply: (limit: number) => void;
  readonly #tell: Tell;
  #inFlight = 0;
  #limit: number;
  #lookedAt: number;
  #wasOut = false;

  /** @param apply sets the concurrency limit */
  constructor(
    control: RateControl,
    concurrency: OverloadLimit,
    apply: (limit: number) => void,
    tell: Tell,
    now: number,
  ) {
    this.#control = control;
    this.#concurrency = concurrency;
    this.#apply = apply;
    this.#tell = tell;
    this.#lookedAt = now;
    this.#limit = concurrency.limitAt(now, false);
  }

  get limit(): number {
    return this.#limit;
  }

  /** The rate by where it comes from, none while nothing is known. */
  reading(now: number): Pick<Reading, 'rates' | 'rateCeiling' | 'isOut'> {
    const { origin, perSecond, ceilingPerSecond, isOut } = this.#control.snapshot(now);
    const rates = origin === 'start' ? {} : { [origin]: perSecond };
    return { rates, rateCeiling: ceilingPerSecond, isOut };
  }

  setMaxLimit(maxLimit: number, now: number): void {
    this.#concurrency.setMax(maxLimit);
    this.#limit = this.#concurrency.limitAt(now, false);
  }

  wait(_demand: Demand, now: number): number {
    // Those who wait here hold slots already: a lower limit must stop them too.
    if (this.#inFlight >= this.#limit) return Number.POSITIVE_INFINITY;
    const waitMs = this.#control.wait(now);
    if (this.#wasOut !== this.#control.isOut) this.#outChanged(now);
    return waitMs;
  }

  take(demand: Demand, now: number): Out {
    this.#inFlight += 1;
    const sending = this.#control.take(this.#control.countsTokens ? demand.tokens : 0, now);
    if (now - this.#lookedAt >= LOOK_MS) this.#look(now);
    return { sending, inFlight: this.#inFlight };
  }

  giveBack({ sending, inFlight }: Out, { isSent, verdict, usage }: Ended, time: Time): void {
    this.#inFlight -= 1;
    const now = time.now();
    if (!isSent || verdict === undefined) this.#control.ended(sending, isSent, now);
    else if (verdict.kind === 'throttled' || verdict.kind === 'overloaded') {
      const from = this.#control.perSecond;
      if (this.#control.rejected(sending, verdict, now)) {
        const to = this.#control.snapshot(now).ceilingPerSecond ?? from;
        this.#tell({ kind: 'rateAdapted', at: now, from, to });
      }
      if (verdict.kind === 'overloaded' && !this.#control.isOut) {
        this.#concurrency.overloaded(sending.at, inFlight, now);
        this.#look(now);
      }
      if (this.#wasOut !== this.#control.isOut) this.#outChanged(now);
    } else if (verdict.kind === 'failed') this.#control.ended(sending, true, now);
    else this.#control.accepted(sending, verdict, usage?.tokens, now);
  }

  snapshot(now: number): AdaptiveRateSnapshot {
    return { limit: this.#limit, ...this.#control.snapshot(now) };
  }

  #look(now: number): void {
    this.#lookedAt = now;
    const from = this.#limit;
    const to = this.#concurrency.limitAt(now, this.#inFlight >= from);
    if (to === from) return;
    this.#limit = to;
    this.#apply(to);
    this.#tell({ kind: 'limitAdapted', at: now, from, to });
  }

  #outChanged(now: number): void {
    this.#wasOut = this.#control.isOut;
    if (this.#wasOut) {
      this.#concurrency.forgive();
      this.#look(now);
    }
    this.#tell({ kind: this.#wasOut ? 'outageStarted' : 'outageEnded', at: now });
  }
}
