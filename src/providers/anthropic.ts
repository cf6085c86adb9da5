import {
  AGAIN,
  FATAL,
  NO_MONEY,
  NO_QUOTA,
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  THROTTLED,
  UNAUTHORISED,
  verdictByWord,
  type Words,
} from './adapter.ts';
import { isIn, matchIn } from './error-chain.ts';
import { MINUTE_MS, readRows, rowOf } from './headers.ts';
import { dateMs } from './times.ts';

const UNITS = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;

const ROWS = UNITS.map((unit) => rowOf(unit, `anthropic-ratelimit-${unit}-*`, MINUTE_MS));

/**
 * A tier's spending cap is answered with 429, the account's own cap with 400. Both last until the
 * month ends.
 */
const SPEND_CAP_CODE = 'enforced_spend_limit_reached';
const SPEND_CAP = /\breached your (?:specified )?(?:workspace )?API usage limits\b/;
const NO_CREDIT = /\bcredit balance is too low\b/;
/** The plan does not include such requests; others may pass. */
const NOT_INCLUDED = /\bextra usage is required\b/i;
const REGAINED = /\bregain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC\b/;

const NAMED_LIMIT = /\b(requests|input tokens|output tokens|tokens) per minute\b/;
const CONCURRENT = /\bconcurrent (?:connections|requests)\b/;
const OLDER_LIMIT = /^(?:\d{3} )?Number of (?:request )?(tokens|requests) has exceeded\b/;

/** The kinds of errors that come inside a stream, without a status. */
const KINDS: Words = {
  rate_limit_error: THROTTLED,
  overloaded_error: OVERLOADED,
  billing_error: NO_MONEY,
  authentication_error: UNAUTHORISED,
  permission_error: UNAUTHORISED,
  api_error: AGAIN,
  timeout_error: AGAIN,
};

/** The time until the account works again, in ms from the answer. */
function untilRegained({ texts, answeredAtMs }: ProviderResponse): PartialVerdict {
  const [, day, time] = matchIn(texts, REGAINED);
  const atMs = dateMs(`${day}T${time}:00Z`);
  return atMs === undefined ? {} : { retryAfterMs: atMs - answeredAtMs() };
}

function limitOf(texts: readonly string[]): PartialVerdict {
  for (const text of texts) {
    const unit = (NAMED_LIMIT.exec(text) ?? OLDER_LIMIT.exec(text))?.[1];
    if (unit !== undefined) return { limit: unit.replace(' ', '-') };
    if (CONCURRENT.test(text)) return { limit: 'concurrency' };
  }
  return {};
}

function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  const { status, words, texts } = answer;
  if (words.has(SPEND_CAP_CODE) || isIn(texts, SPEND_CAP)) {
    return { ...NO_QUOTA, ...untilRegained(answer) };
  }
  if (isIn(texts, NO_CREDIT)) return NO_MONEY;
  if (isIn(texts, NOT_INCLUDED)) return FATAL;
  const known = verdictByWord(KINDS, answer);
  if (known?.kind === 'failed' && status !== undefined) return undefined;
  return known?.kind === 'throttled' ? { ...known, ...limitOf(texts) } : known;
}

/**
 * Anthropic. A reset is the time (RFC 3339) at which the limit is full again. Limits are per
 * minute.
 */
export const anthropic: ProviderAdapter = {
  name: 'Anthropic',
  marks: ['anthropic-ratelimit-requests-limit', 'anthropic-ratelimit-tokens-limit'],
  limits: (header, answeredAtMs) => readRows(ROWS, header, answeredAtMs),
  verdict,
};
