import type { Tell } from '../model/facts.ts';
import type { Core, Demand, Ended, Time } from './core.ts';
import type { Gradient, GradientSnapshot } from './gradient.ts';

/** An attempt that is out. */
interface Sent {
  readonly at: number;
  readonly inFlight: number;
}

/** Watches the latency of attempts, and moves the concurrency limit. It holds nobody back. */
export class GradientCore implements Core<Sent> {
  readonly gradient: Gradient;
  private readonly apply: (limit: number) => void;
  private readonly tell: Tell;
  private inFlight = 0;

  /** @param apply sets the concurrency limit */
  constructor(gradient: Gradient, apply: (limit: number) => void, tell: Tell) {
    this.gradient = gradient;
    this.apply = apply;
    this.tell = tell;
  }

  get limit(): number {
    return this.gradient.limit;
  }

  setMaxLimit(maxLimit: number): void {
    this.gradient.setMaxLimit(maxLimit);
  }

  wait(): number {
    return 0;
  }

  take(_demand: Demand, now: number): Sent {
    this.inFlight += 1;
    return { at: now, inFlight: this.inFlight };
  }

  /** An answer that says nothing of how busy the server is counts for nothing. */
  giveBack({ at, inFlight }: Sent, { isSent, verdict, usage }: Ended, time: Time): void {
    this.inFlight -= 1;
    if (!isSent || verdict === undefined) return;
    const dropped = verdict.kind === 'throttled' || verdict.kind === 'overloaded';
    if (!dropped && verdict.kind !== 'ok') return;
    const now = time.now();
    const from = this.gradient.limit;
    const latencyMs = Math.max(0, now - at);
    const to = this.gradient.sample({ latencyMs, inFlight, dropped, tokens: usage?.tokens }, now);
    if (to === from) return;
    this.apply(to);
    const reason = dropped ? 'rejected' : 'latency';
    this.tell({ kind: 'limitAdapted', at: now, reason, from, to });
  }

  snapshot(): GradientSnapshot {
    return this.gradient.snapshot();
  }
}
