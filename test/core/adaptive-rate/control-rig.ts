import { RateControl, type RateRules } from '../../../src/core/adaptive-rate/rate-control.ts';

export const NO_LIMIT = Number.POSITIVE_INFINITY;

/** A control that starts at ten a second, without hard limits and without jitter. */
export function controlOf(rules: Partial<RateRules> = {}, past = { sent: 0, since: 0 }) {
  return new RateControl(
    {
      startPerSecond: 10,
      hard: () => NO_LIMIT,
      maxRetryAfterMs: 60_000,
      random: () => 0.5,
      ...rules,
    },
    past,
  );
}
