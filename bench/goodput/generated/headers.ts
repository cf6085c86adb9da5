/** The rate-limit headers of a generated provider, in the format of its family. */
import type { Unit } from './limit-specs.ts';
import type { Told } from './limits.ts';
import type { HeaderStyle } from './space.ts';

/** The date at which runs begin. */
const START_WALL_MS = Date.UTC(2025, 0, 1);
const SECOND_MS = 1_000;
/** Seconds with microseconds and without an exponent. */
const RETRY_DIGITS = 6;

export interface Telling {
  readonly status: 200 | 429 | 503;
  /** The time until such a request would be accepted; Infinity: not known. */
  readonly waitMs: number;
  /** Empty in an outage, when the answering server does not know the limits. */
  readonly told: readonly (Told & { readonly unit: Unit; readonly windowMs: number })[];
  /** When the request was accepted or rejected: the start of the waits. */
  readonly decidedAt: number;
  /** When the server sends the answer. */
  readonly now: number;
}

export function headersOf(
  style: HeaderStyle,
  { status, waitMs, told, decidedAt, now }: Telling,
): Record<string, string> {
  const isRejected = status !== 200 && Number.isFinite(waitMs);
  const retry = (ms: number): Record<string, string> =>
    isRejected ? { 'retry-after': (ms / SECOND_MS).toFixed(RETRY_DIGITS) } : {};
  // Providers report no windows for concurrency limits.
  const rates = told.filter(({ unit }) => unit !== 'concurrency');
  switch (style) {
    case 'nothing':
      return {};
    case 'retry-exact':
      return retry(waitMs);
    case 'retry-seconds':
      return isRejected ? { 'retry-after': wholeSeconds(waitMs) } : {};
    case 'retry-short':
      return retry(0.3 * waitMs);
    case 'retry-long':
      return retry(10 * waitMs);
    case 'openai':
      return Object.assign(
        {},
        ...rates.map(({ unit, limit, remaining, resetMs }) => ({
          [`x-ratelimit-limit-${unit}`]: `${Math.floor(limit)}`,
          [`x-ratelimit-remaining-${unit}`]: `${remaining}`,
          [`x-ratelimit-reset-${unit}`]: durationOf(resetMs),
        })),
      );
    case 'anthropic':
      return Object.assign(
        { date: new Date(START_WALL_MS + now).toUTCString() },
        isRejected ? { 'retry-after': wholeSeconds(waitMs) } : {},
        ...rates.map(({ unit, limit, remaining, resetMs }) => ({
          [`anthropic-ratelimit-${unit}-limit`]: `${Math.floor(limit)}`,
          [`anthropic-ratelimit-${unit}-remaining`]: `${remaining}`,
          [`anthropic-ratelimit-${unit}-reset`]: new Date(
            START_WALL_MS + decidedAt + resetMs,
          ).toISOString(),
        })),
      );
    case 'ietf': {
      const named = rates.map((limit, index) => ({ ...limit, name: `"${limit.unit}${index}"` }));
      if (named.length === 0) return {};
      return {
        'ratelimit-policy': named
          .map(({ name, unit, limit, windowMs }) => {
            const quotaUnit = unit === 'tokens' ? ';qu="tokens"' : '';
            const { quota, seconds } = inWholeSeconds(limit, windowMs);
            return `${name};q=${quota};w=${seconds}${quotaUnit}`;
          })
          .join(', '),
        ratelimit: named
          .map(({ name, remaining, resetMs }) => {
            return `${name};r=${remaining};t=${Math.ceil(resetMs / SECOND_MS)}`;
          })
          .join(', '),
      };
    }
  }
}

/** Rounds the window to whole seconds, and gives the quota that the same rate allows in it. */
function inWholeSeconds(limit: number, windowMs: number): { quota: number; seconds: number } {
  const seconds = Math.ceil(windowMs / SECOND_MS);
  return { quota: Math.floor((limit * seconds * SECOND_MS) / windowMs), seconds };
}

function wholeSeconds(ms: number): string {
  return `${Math.ceil(ms / SECOND_MS)}`;
}

/** A duration as OpenAI writes it: in milliseconds below a second. */
function durationOf(ms: number): string {
  if (ms < SECOND_MS) return `${Math.ceil(ms)}ms`;
  const seconds = ms / SECOND_MS;
  const minutes = Math.floor(seconds / 60);
  const rest = `${Number((seconds % 60).toFixed(3))}s`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
