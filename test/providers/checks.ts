import type { ReportedLimit } from '../../src/model/feedback.ts';
import { classify } from '../../src/providers/classify.ts';
import { holds } from '../support/holds.ts';

const KINDS = ['throttled', 'overloaded', 'failed', 'fatal'];
const UNITS = ['requests', 'tokens', 'input-tokens', 'output-tokens', 'bytes', 'concurrency'];

export const isAmount = (value: unknown) => Number.isFinite(value) && Number(value) >= 0;

export function checkLimits(limits: readonly ReportedLimit[]): void {
  for (const limit of limits) {
    holds(UNITS.includes(limit.unit), limit);
    for (const [key, value] of Object.entries(limit)) {
      holds(key === 'unit' || (key === 'isResetTime' ? value === true : isAmount(value)), limit);
    }
    holds(limit.limit !== 0 && limit.windowMs !== 0, limit);
    holds(limit.limit !== undefined || limit.remaining !== undefined, limit);
  }
}

export function checkVerdict(error: unknown, body?: string): number | undefined {
  const verdict = classify(error, body);
  const { kind, retry, retryAfterMs, limit, outage, limits = [] } = verdict;
  holds(KINDS.includes(kind) && typeof retry === 'boolean', verdict);
  holds(retryAfterMs === undefined || (isAmount(retryAfterMs) && retryAfterMs > 0), verdict);
  holds(limit === undefined || typeof limit === 'string', verdict);
  holds(outage === undefined || (kind === 'fatal' && typeof outage === 'string'), verdict);
  holds(kind !== 'fatal' || outage === undefined || !retry, verdict);
  checkLimits(limits);
  return retryAfterMs;
}
