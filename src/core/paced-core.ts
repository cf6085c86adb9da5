import type { GateKind } from '../model/outcome.ts';
import type { AdaptiveRateCore, RateCharge } from './adaptive-rate-core.ts';
import type { Core, Demand, Ended, Time } from './core.ts';

/** What both have charged, where the backoff has too: its probe. */
class Probing {
  readonly probe: number;
  readonly charge: RateCharge;

  constructor(probe: number, charge: RateCharge) {
    this.probe = probe;
    this.charge = charge;
  }
}

/**
 * A backoff, a rate that adapts, and nothing else, which is what gates have by default: as a
 * composite of the two, but without a record of charges, which would be made for each request.
 */
export class PacedCore implements Core<RateCharge | Probing> {
  binding: GateKind = 'backoff';
  private readonly backoff: Core<number>;
  private readonly rate: AdaptiveRateCore;
  private isRetired = false;

  constructor(backoff: Core<number>, rate: AdaptiveRateCore) {
    this.backoff = backoff;
    this.rate = rate;
  }

  /** The rate is in force no more: what it has charged is not given back to it. */
  retire(): void {
    this.isRetired = true;
  }

  wait(demand: Demand, now: number): number {
    const closedMs = this.backoff.wait(demand, now);
    const waitMs = this.rate.wait(demand, now);
    if (closedMs >= waitMs) {
      this.binding = 'backoff';
      return closedMs;
    }
    this.binding = this.rate.binding;
    return waitMs;
  }

  take(demand: Demand, now: number): RateCharge | Probing {
    const probe = this.backoff.take(demand, now);
    const charge = this.rate.take(demand, now);
    return probe === 0 ? charge : new Probing(probe, charge);
  }

  giveBack(charge: RateCharge | Probing, ended: Ended, time: Time): void {
    if (!(charge instanceof Probing)) {
      if (!this.isRetired) this.rate.giveBack(charge, ended, time);
      return;
    }
    if (!this.isRetired) this.rate.giveBack(charge.charge, ended, time);
    this.backoff.giveBack(charge.probe, ended, time);
  }

  snapshot(): object {
    return {};
  }
}
