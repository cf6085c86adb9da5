import type { ReportedLimit } from '../../src/model/feedback.ts';
import { classify } from '../../src/providers/classify.ts';

const KINDS = ['throttled', 'overloaded', 'failed', 'fatal'];
const UNITS = ['requests', 'tokens', 'input-tokens', 'output-tokens', 'bytes', 'concurrency'];

/** Plain checks: a matcher a value would take longer than what is tested. */
export function demand(holds: boolean, what: unknown): void {
  if (!holds) throw new Error(`not so: ${JSON.stringify(what)}`);
}

export const isAmount = (value: unknown) => Number.isFinite(value) && Number(value) >= 0;

export function checkLimits(limits: readonly ReportedLimit[]): void {
  for (const limit of limits) {
    demand(UNITS.includes(limit.unit), limit);
    for (const [key, value] of Object.entries(limit)) {
      demand(key === 'unit' || (key === 'isResetTime' ? value === true : isAmount(value)), limit);
    }
    demand(limit.limit !== 0 && limit.windowMs !== 0, limit);
    demand(limit.limit !== undefined || limit.remaining !== undefined, limit);
  }
}

export function checkVerdict(error: unknown, body?: string): number | undefined {
  const verdict = classify(error, body);
  const { kind, retry, retryAfterMs, limit, outage, limits = [] } = verdict;
  demand(KINDS.includes(kind) && typeof retry === 'boolean', verdict);
  demand(retryAfterMs === undefined || (isAmount(retryAfterMs) && retryAfterMs > 0), verdict);
  demand(limit === undefined || typeof limit === 'string', verdict);
  demand(outage === undefined || (kind === 'fatal' && typeof outage === 'string'), verdict);
  demand(kind !== 'fatal' || outage === undefined || !retry, verdict);
  checkLimits(limits);
  return retryAfterMs;
}
