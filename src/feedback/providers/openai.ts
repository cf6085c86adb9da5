import type { ReportedLimit } from '../../model/feedback.ts';
import type { Answer, HeaderGet, Reader, Remark } from './reader.ts';
import { DAY_MS, type LimitRow, MINUTE_MS, readRows } from './rows.ts';

/** Nothing goes well until somebody pays, or raises a limit (OpenAI, "Error codes"). */
const BILLING_WORDS = [
  'billing_not_active',
  'billing_hard_limit_reached',
  'credit_balance_exhausted',
];
const QUOTA_WORDS = [
  'insufficient_quota',
  'organization_usage_limit_exceeded',
  'organization_spend_limit_exceeded',
  'project_spend_limit_exceeded',
];

/** A request above the limit itself never passes, though it is answered 429 too. */
const TOO_LARGE = /^(?:\d{3} )?Request too large\b/;
const NAMED_LIMIT = /\bon (requests|tokens|input tokens|output tokens) per (min|day)\b/i;

/** The headers of OpenAI, which many others send too. */
export const OPENAI_MARKS = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
];

export const OPENAI_ROWS: readonly LimitRow[] = (['requests', 'tokens'] as const).map((unit) => ({
  unit,
  limit: `x-ratelimit-limit-${unit}`,
  remaining: `x-ratelimit-remaining-${unit}`,
  reset: `x-ratelimit-reset-${unit}`,
}));

/** How far the window that a reset implies may be from a day. */
const DAY_TOLERANCE = 0.1;

/**
 * Some accounts have their requests of a day under these names (200 or 10,000 a day for small ones,
 * all of Groq's). The bucket fills at `limit` a window, so that the reset tells its length.
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

/** Which limit was hit, of an error in the words of OpenAI; Groq and Azure say it alike. */
function openAiLimit({ texts, words }: Answer): string | undefined {
  for (const text of texts) {
    const [, unit, per] = NAMED_LIMIT.exec(text) ?? [];
    if (unit === undefined) continue;
    const name = unit.toLowerCase().replace(' ', '-');
    return per?.toLowerCase() === 'day' ? `${name} per day` : name;
  }
  return words.has('tokens') ? 'tokens' : words.has('requests') ? 'requests' : undefined;
}

function remark(answer: Answer): Remark | undefined {
  const { words, status } = answer;
  const said = (list: readonly string[]) => list.some((word) => words.has(word));
  if (said(BILLING_WORDS)) return { kind: 'fatal', outage: 'billing' };
  if (said(QUOTA_WORDS)) return { kind: 'fatal', outage: 'quota' };
  if (words.has('server_is_overloaded')) return { kind: 'overloaded' };
  if (words.has('rate_limit_exceeded') || (status === 429 && answer.texts.length > 0)) {
    const limit = openAiLimit(answer);
    const named = limit === undefined ? {} : { limit };
    if (answer.texts.some((text) => TOO_LARGE.test(text))) return { kind: 'fatal', ...named };
    if (words.has('rate_limit_exceeded')) return { kind: 'throttled', ...named };
    return limit === undefined ? undefined : named;
  }
  if (status === undefined && words.has('server_error')) return { kind: 'failed', retry: true };
  return undefined;
}

/** OpenAI, and whoever speaks like it. Windows are minutes unless the reset implies a day. */
export const openai: Reader = {
  name: 'OpenAI, and APIs like it',
  reads:
    '`x-ratelimit-{limit,remaining,reset}-{requests,tokens}`; `insufficient_quota`, spend and billing codes (final); a request above the limit itself (final); which limit was hit',
  marks: OPENAI_MARKS,
  limits,
  remark,
};
