import type { RunFacts } from '../../examples/batch/report.ts';
import type { LimitsReport } from '../../examples/batch/report-limits.ts';
import { Tally } from '../../examples/batch/tally.ts';

export const LIMITS: LimitsReport = {
  concurrency: 64,
  concurrencyAtEnd: 64,
  maxBytes: 65_536,
  rate: null,
  rateLimit: {},
  intervalMs: 0,
  circuitBreaker: null,
};
export const FACTS: RunFacts = {
  ended: 'complete',
  error: null,
  prompts: 4,
  attempts: 6,
  rejected: 2,
  tokens: undefined,
  limits: LIMITS,
  elapsedMs: 2_000,
  capacity: 6,
};
export const waited = {
  concurrency: { waitMs: 300, rounds: 2 },
  backoff: { waitMs: 100, rounds: 1 },
};

export function tallyOf(...outcomes: Parameters<Tally['add']>[0][]): Tally {
  const tally = new Tally();
  for (const outcome of outcomes) tally.add(outcome);
  return tally;
}
