import type { LimitStatus } from './limits/limit-set.ts';

/**
 * The limits as Anthropic's API reference has them, with the wall time of their full replenishment
 * in RFC 3339, to the second above.
 * @param decidedMs when the limits were looked at, in milliseconds since 1970
 */
export function anthropicLimitHeaders(
  limits: readonly LimitStatus[],
  decidedMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const unit of ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const) {
    const status = limits.find((limit) => limit.unit === unit);
    if (status === undefined) continue;
    const resetMs = Math.ceil((decidedMs + status.resetMs) / 1000) * 1000;
    const prefix = `anthropic-ratelimit-${unit}`;
    headers[`${prefix}-limit`] = String(status.limit);
    headers[`${prefix}-remaining`] = String(status.remaining);
    headers[`${prefix}-reset`] = new Date(resetMs).toISOString().replace('.000Z', 'Z');
  }
  return headers;
}
