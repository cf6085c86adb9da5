import type { Backoff } from '../core/backoff.ts';
import type { Core, Demand } from '../core/core.ts';

/** A shared backoff as part of a gate of its own. */
export class BackoffPart implements Core<number> {
  readonly binding = 'backoff';
  private readonly backoff: Backoff;
  private readonly onBlocked: () => void;

  /** @param onBlocked a request waits for what no time tells: the gate must be woken */
  constructor(backoff: Backoff, onBlocked: () => void) {
    this.backoff = backoff;
    this.onBlocked = onBlocked;
  }

  wait(demand: Demand, now: number): number {
    const waitMs = this.backoff.wait(demand, now);
    if (waitMs === Number.POSITIVE_INFINITY) this.onBlocked();
    return waitMs;
  }

  take(): number {
    return this.backoff.take();
  }

  giveBack(probe: number): void {
    this.backoff.giveBack(probe);
  }

  snapshot(now: number): object {
    return this.backoff.snapshot(now);
  }
}
