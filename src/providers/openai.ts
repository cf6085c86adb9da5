import type { ReportedLimit } from '../model/feedback.ts';
import {
  AGAIN,
  type HeaderGet,
  NO_MONEY,
  NO_QUOTA,
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  verdictByWord,
  type Words,
} from './adapter.ts';
import { isIn, matchIn } from './error-chain.ts';
import { DAY_MS, MINUTE_MS, readRows, rowOf } from './headers.ts';

const CODES: Words = {
  // No request succeeds until the account is paid or its limit is raised (OpenAI, "Error codes").
  billing_not_active: NO_MONEY,
  billing_hard_limit_reached: NO_MONEY,
  credit_balance_exhausted: NO_MONEY,
  insufficient_quota: NO_QUOTA,
  organization_usage_limit_exceeded: NO_QUOTA,
  organization_spend_limit_exceeded: NO_QUOTA,
  project_spend_limit_exceeded: NO_QUOTA,
  // The servers lack capacity; the second comes with 429, for the flex tier.
  server_is_overloaded: OVERLOADED,
  resource_unavailable: OVERLOADED,
};

/** A request larger than the whole limit never passes, though the status is 429. */
const TOO_LARGE = /^(?:\d{3} )?Request too large\b/;
const NAMED_LIMIT = /\bon (requests|tokens|input tokens|output tokens) per (min|day)\b/i;

/** OpenAI's headers, which many other providers send too. */
export const OPENAI_MARKS = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
];

export const OPENAI_ROWS = [
  rowOf('requests', 'x-ratelimit-*-requests'),
  rowOf('tokens', 'x-ratelimit-*-tokens'),
];

/** The share by which the window implied by a reset may differ from a day. */
const DAY_TOLERANCE = 0.1;

/**
 * Some accounts report a daily limit under these names (200 or 10,000 a day for small accounts, and
 * Groq). The bucket refills at `limit` per window, so the reset shows the length of the window.
 */
function windowMsOf({ unit, limit, remaining, resetMs }: ReportedLimit): number {
  if (unit !== 'requests' || limit === undefined || resetMs === undefined) return MINUTE_MS;
  const used = limit - (remaining ?? limit);
  const impliedMs = used > 0 ? (resetMs * limit) / used : 0;
  return Math.abs(impliedMs - DAY_MS) < DAY_MS * DAY_TOLERANCE ? DAY_MS : MINUTE_MS;
}

function limits(header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[] {
  return readRows(OPENAI_ROWS, header, answeredAtMs).map((one) => ({
    ...one,
    windowMs: windowMsOf(one),
  }));
}

/** The limit that an error text of OpenAI, Groq or Azure names. */
function openAiLimit({ texts, words }: ProviderResponse): string | undefined {
  const [, unit, per] = matchIn(texts, NAMED_LIMIT);
  if (unit !== undefined) {
    const name = unit.toLowerCase().replace(' ', '-');
    return per?.toLowerCase() === 'day' ? `${name} per day` : name;
  }
  return words.has('tokens') ? 'tokens' : words.has('requests') ? 'requests' : undefined;
}

function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  const { words, status, texts } = answer;
  const known = verdictByWord(CODES, answer);
  if (known !== undefined) return known;
  if (words.has('rate_limit_exceeded') || (status === 429 && texts.length > 0)) {
    const limit = openAiLimit(answer);
    const named = limit === undefined ? {} : { limit };
    if (isIn(texts, TOO_LARGE)) return { kind: 'fatal', ...named };
    if (words.has('rate_limit_exceeded')) return { kind: 'throttled', ...named };
    return limit === undefined ? undefined : named;
  }
  return status === undefined && words.has('server_error') ? AGAIN : undefined;
}

/**
 * OpenAI, and providers with the same headers. Windows are minutes unless the reset implies a day.
 */
export const openai: ProviderAdapter = {
  name: 'OpenAI, and APIs like it',
  marks: OPENAI_MARKS,
  limits,
  verdict,
};
