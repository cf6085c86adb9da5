import type { LimitStatus } from './limits/limit-set.ts';
import type { ProviderAnswer } from './provider-types.ts';

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

/** `retry-after` in whole seconds, as HTTP defines it. */
export function retryAfterSeconds(retryAfterMs: number): string {
  return String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
}

/**
 * The headers of OpenAI's API reference: the first limit on requests, the first on tokens, and how
 * long to wait. `retry-after-ms` is the time that `retry-after` rounds up to seconds.
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

/**
 * The headers of Anthropic's API reference for limits, with the wall time of their full
 * replenishment in RFC 3339, rounded up to a second.
 * @param decidedMs when the limits were read, in milliseconds since 1970
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

/**
 * The headers of answers. `openai` (default): OpenAI's limit headers, `retry-after` and
 * `retry-after-ms`. `anthropic`: Anthropic's limit headers, `retry-after` in whole seconds, and
 * `date`. `retry-after`: only `retry-after` and `retry-after-ms`. `none`: no headers.
 */
export type HeaderStyle = 'openai' | 'anthropic' | 'retry-after' | 'none';

export const HEADER_STYLES: readonly HeaderStyle[] = ['openai', 'anthropic', 'retry-after', 'none'];

/** The wall time at the provider's start: 2025-01-01, so that runs in virtual time can repeat. */
const START_WALL_MS = Date.UTC(2025, 0, 1);

/**
 * The headers of an answer.
 * @param nowMs when it is sent, in milliseconds since the provider's start
 */
export function answerHeaders(
  style: HeaderStyle,
  answer: ProviderAnswer,
  nowMs: number,
): Record<string, string> {
  const { retryAfterMs } = answer;
  if (style === 'openai') return openAiHeaders(answer);
  if (style === 'none') return {};
  if (style === 'retry-after') {
    return openAiHeaders({ limits: [], ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }
  const wallMs = START_WALL_MS + nowMs;
  return {
    date: new Date(wallMs).toUTCString(),
    ...anthropicLimitHeaders(answer.limits, wallMs - answer.latencyMs),
    ...(retryAfterMs === undefined ? {} : { 'retry-after': retryAfterSeconds(retryAfterMs) }),
  };
}
