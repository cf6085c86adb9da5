import { anthropicLimitHeaders } from './anthropic-headers.ts';
import { openAiHeaders, retryAfterSeconds } from './openai-headers.ts';
import type { ProviderAnswer } from './provider-types.ts';

/**
 * What the headers of answers tell. `openai` (default): its limits, and `retry-after` with
 * `retry-after-ms`. `anthropic`: its limits, `retry-after` in whole seconds, and the `date`.
 * `retry-after`: nothing but that, with `retry-after-ms`. `none`: nothing.
 */
export type HeaderStyle = 'openai' | 'anthropic' | 'retry-after' | 'none';

export const HEADER_STYLES: readonly HeaderStyle[] = ['openai', 'anthropic', 'retry-after', 'none'];

/** What wall clocks say when the provider starts: 2025-01-01, so that runs in virtual time repeat. */
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
