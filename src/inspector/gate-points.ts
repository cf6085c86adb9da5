import type { GateState } from './gate-state.ts';
import type { GateFollower } from './request-follower.ts';
import { Timeline } from './timeline.ts';
import { GATES, type Point } from './wire.ts';

/** Rates are means over so many seconds. */
const RATE_SECONDS = 3;

interface Counters {
  readonly sent: number;
  readonly ok: number;
  readonly failed: number;
  readonly throttled: number;
  readonly bytes: number;
  readonly tokens: number;
}

const NONE: Counters = { sent: 0, ok: 0, failed: 0, throttled: 0, bytes: 0, tokens: 0 };

/** What waited for a gate at the last look may wait for another one now. */
const NO_WAITS = Object.fromEntries(GATES.map((gate) => [gate, 0]));

/** The time line of one gate: what its follower has counted since the last look, and its state. */
export class GatePoints {
  readonly #timeline = new Timeline();
  #counted = NONE;

  /** Seconds that are known. */
  get length(): number {
    return this.#timeline.length;
  }

  /** Requests sent a second, over the last seconds. */
  get perSecond(): number {
    return this.#timeline.mean('sent', RATE_SECONDS);
  }

  /** The last seconds, the oldest first. */
  last(count: number): readonly Point[] {
    return this.#timeline.last(count);
  }

  /** @param wallNow milliseconds since 1970 */
  put(follower: GateFollower, state: GateState, wallNow: number): void {
    const counted = countersOf(follower);
    const before = this.#counted;
    this.#counted = counted;
    const added = {
      sent: counted.sent - before.sent,
      ok: counted.ok - before.ok,
      failed: counted.failed - before.failed,
      throttled: counted.throttled - before.throttled,
      bytes: counted.bytes - before.bytes,
      tokens: counted.tokens - before.tokens,
    };
    this.#timeline.put(Math.floor(wallNow / 1_000), added, {
      ...ratesOf(state),
      inFlight: state.inFlight,
      limit: finite(state.limit),
      ...NO_WAITS,
      ...state.waitingBy,
    });
  }
}

function countersOf(follower: GateFollower): Counters {
  const { sentCount, okCount, failedCount, throttledCount, bytes, tokens } = follower;
  return {
    sent: sentCount,
    ok: okCount,
    failed: failedCount,
    throttled: throttledCount,
    bytes,
    tokens,
  };
}

/** Requests a second that may be sent, by who says so. */
function ratesOf({ gate, rate }: GateState) {
  const origin = rate?.origin;
  const known = rate === undefined ? Number.NaN : finite(rate.perSecond);
  return {
    rateSet: gate.policies.rateLimit?.limits.perSecond('requests') ?? Number.NaN,
    rateTold: origin === 'headers' ? known : Number.NaN,
    rateLearned: origin === 'learned' ? known : Number.NaN,
  };
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN;
}
