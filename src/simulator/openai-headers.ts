import type { LimitStatus } from './limits/limit-set.ts';

/** A duration as OpenAI writes it: `20ms`, `1s`, `6m0s`, `1h2m3.5s`. Rounded up to milliseconds. */
export function formatDuration(durationMs: number): string {
  const wholeMs = Math.ceil(durationMs);
  if (wholeMs < 1000) return `${wholeMs}ms`;
  const hours = Math.floor(wholeMs / 3_600_000);
  const minutes = Math.floor((wholeMs % 3_600_000) / 60_000);
  const seconds = (wholeMs % 60_000) / 1000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** `retry-after` in whole seconds, as HTTP has it. */
export function retryAfterSeconds(retryAfterMs: number): string {
  return String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
}

/**
 * The headers of OpenAI's API reference: the first limit on requests, the first on tokens, and how
 * long to wait; `retry-after-ms` has the time that `retry-after` rounds up to seconds.
 */
export function openAiHeaders(answer: {
  readonly limits: readonly LimitStatus[];
  readonly retryAfterMs?: number;
}): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const unit of ['requests', 'tokens'] as const) {
    const status = answer.limits.find((limit) => limit.unit === unit);
    if (status === undefined) continue;
    headers[`x-ratelimit-limit-${unit}`] = String(status.limit);
    headers[`x-ratelimit-remaining-${unit}`] = String(status.remaining);
    headers[`x-ratelimit-reset-${unit}`] = formatDuration(status.resetMs);
  }
  if (answer.retryAfterMs !== undefined) {
    headers['retry-after-ms'] = String(Math.ceil(answer.retryAfterMs));
    headers['retry-after'] = retryAfterSeconds(answer.retryAfterMs);
  }
  return headers;
}
