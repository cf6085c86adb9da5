import type { CoolingFact, Tell } from '../model/facts.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Cooling } from './cooling.ts';
import type { CoolingSnapshot } from './cooling-facts.ts';
import type { Core, Demand, Ended, Time } from './core.ts';
import type { IsFailure } from './judge.ts';

/** Watches attempts, and moves the concurrency limit and the interval. It holds nobody back. */
export class CoolingCore implements Core<number> {
  readonly cooling: Cooling;
  private readonly isFailure: IsFailure;
  private readonly apply: (limit: number) => void;
  private readonly tell: Tell;

  /** @param apply sets the concurrency limit */
  constructor(cooling: Cooling, isFailure: IsFailure, apply: (limit: number) => void, tell: Tell) {
    this.cooling = cooling;
    this.isFailure = isFailure;
    this.apply = apply;
    this.tell = tell;
  }

  get limit(): number {
    return this.cooling.limit;
  }

  setMaxLimit(maxLimit: number, now: number): void {
    this.cooling.setMaxLimit(maxLimit, now);
  }

  get nextChangeAt(): number {
    return this.cooling.nextChangeAt;
  }

  advance(now: number): void {
    this.changed(this.cooling.advance(now));
  }

  wait(): number {
    return 0;
  }

  /** The epoch in which the attempt is sent, counted from 1. */
  take(_demand: Demand, _now: number): number {
    return this.cooling.epoch + 1;
  }

  /** Only a failure counts, and needs the time. */
  giveBack(charge: number, { isSent, verdict }: Ended, time: Time): void {
    if (!isSent || verdict === undefined || !this.isFailure(verdict)) return;
    this.changed(this.cooling.failed(time.now(), charge - 1));
  }

  /** @param epoch the one in which the attempt was sent. Default: the present one */
  recordVerdict(verdict: Verdict, now: number, epoch?: number): void {
    if (this.isFailure(verdict)) this.changed(this.cooling.failed(now, epoch));
  }

  snapshot(now: number): CoolingSnapshot {
    return this.cooling.snapshot(now);
  }

  private changed(facts: readonly CoolingFact[]): void {
    if (facts.length === 0) return;
    this.apply(this.cooling.limit);
    for (const fact of facts) this.tell(fact);
  }
}
