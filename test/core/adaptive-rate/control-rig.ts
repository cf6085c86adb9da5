import { RateControl, type RateRules } from '../../../src/core/adaptive-rate/rate-control.ts';
import type { Verdict } from '../../../src/model/feedback.ts';

export const NO_LIMIT = Number.POSITIVE_INFINITY;

/** A control that starts at ten a second, without hard limits and without jitter. */
export function controlOf(rules: Partial<RateRules> = {}, past = { sent: 0, since: 0 }) {
  return new RateControl(
    {
      startPerSecond: 10,
      hard: () => NO_LIMIT,
      saves: () => 0,
      maxRetryAfterMs: 60_000,
      random: () => 0.5,
      ...rules,
    },
    past,
  );
}

export const OK: Verdict = { kind: 'ok' };
export const THROTTLED: Verdict = { kind: 'throttled' };
export const OVERLOADED: Verdict = { kind: 'overloaded' };

/** Waits as long as it is told, and no longer. */
export function whenFree(control: RateControl, now: number): number {
  let at = now;
  for (let asked = 0; asked < 100_000; asked += 1) {
    const waitMs = control.wait(at);
    if (waitMs === 0) return at;
    at += waitMs;
  }
  throw new Error('it never lets anybody go');
}

/** Sends so many, each answered after 50 ms, one at a time. @returns the time of the last answer */
export function sendAll(
  control: RateControl,
  from: number,
  times: number,
  answer = OK,
  tokens = 0,
) {
  let now = from;
  for (let n = 0; n < times; n += 1) {
    now = whenFree(control, now);
    const sending = control.take(tokens, now);
    now += 50;
    if (answer.kind === 'ok') control.accepted(sending, answer, tokens || undefined, now);
    else control.rejected(sending, answer, now);
  }
  return now;
}
