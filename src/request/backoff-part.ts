import type { Backoff } from '../policies/backoff.ts';
import type { Policy, RequestCost } from '../policies/policy.ts';

/** Adapts a shared backoff to a policy, so that a gate can ask it together with others. */
export class BackoffPart implements Policy<number> {
  readonly binding = 'backoff';
  private readonly backoff: Backoff;
  private readonly onBlocked: () => void;

  /** @param onBlocked called when a request waits for the end of a probe, which no timer tells */
  constructor(backoff: Backoff, onBlocked: () => void) {
    this.backoff = backoff;
    this.onBlocked = onBlocked;
  }

  wait(request: RequestCost, now: number): number {
    const waitMs = this.backoff.wait(request, now);
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
