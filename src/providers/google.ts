import type { LimitUnit, ReportedLimit } from '../model/feedback.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import {
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
import { DAY_MS, MINUTE_MS, reported } from './headers.ts';
import { isList, isShape, read, readList, readNumber, readText } from './shape.ts';
import { durationMs, plainNumber } from './times.ts';

/** How many details of a `google.rpc.Status` are read. No answer has more. */
const MOST_DETAILS = 16;
const PER_DAY = /per_?day/i;

/** Status names, for answers without a number. */
const KINDS: Words = {
  RESOURCE_EXHAUSTED: THROTTLED,
  UNAVAILABLE: OVERLOADED,
  UNAUTHENTICATED: UNAUTHORISED,
  PERMISSION_DENIED: UNAUTHORISED,
};

/** The reason of an `ErrorInfo` in a 400: the key is wrong or has expired. */
const INVALID_KEY = 'API_KEY_INVALID';

interface Violation {
  readonly quotaId: string;
  readonly limit: ReportedLimit | undefined;
}

/** `22s` or `1.5s` in JSON; seconds and nanoseconds in a decoded message. */
function protoDurationMs(value: unknown): number | undefined {
  if (typeof value === 'string') return durationMs(value);
  if (!isShape(value)) return undefined;
  const seconds = readNumber(value, 'seconds') ?? 0;
  return seconds * 1000 + (readNumber(value, 'nanos') ?? 0) / 1e6;
}

/** The wait that an `ErrorInfo` of Gemini Code Assist names. */
function resetDelayMs(detail: unknown): number | undefined {
  return protoDurationMs(read(read(detail, 'metadata'), 'quotaResetDelay'));
}

function detailsOf({ chain }: ProviderResponse): readonly unknown[] {
  for (const layer of chain) {
    for (const key of ['details', 'errorDetails', 'statusDetails']) {
      const details = readList(read(layer, key), MOST_DETAILS);
      if (details.some(isShape)) return details;
    }
  }
  // The whole text may be the list of details.
  const list = chain.find(isList);
  return readList(list, MOST_DETAILS);
}

function unitOf(quotaId: string): LimitUnit {
  if (!/token/i.test(quotaId)) return 'requests';
  return /input_?token/i.test(quotaId) ? 'input-tokens' : 'tokens';
}

function violationOf(quotaId: string, value: unknown): Violation {
  const windowMs = PER_DAY.test(quotaId)
    ? DAY_MS
    : /per_?minute/i.test(quotaId)
      ? MINUTE_MS
      : undefined;
  const limit = plainNumber(typeof value === 'number' ? String(value) : textOr(value));
  return { quotaId, limit: reported(unitOf(quotaId), { limit, windowMs }) };
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `QuotaFailure` lists quotas; `ErrorInfo` names one in its metadata. */
function violationsOf(details: readonly unknown[]): Violation[] {
  const found: Violation[] = [];
  for (const detail of details) {
    for (const violation of readList(read(detail, 'violations'), MOST_DETAILS)) {
      const quotaId = readText(violation, 'quotaId') ?? readText(violation, 'subject');
      if (quotaId !== undefined) found.push(violationOf(quotaId, read(violation, 'quotaValue')));
    }
    const metadata = read(detail, 'metadata');
    const quotaId = readText(metadata, 'quota_limit');
    if (quotaId !== undefined) {
      found.push(violationOf(quotaId, read(metadata, 'quota_limit_value')));
    }
  }
  return found;
}

function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  const details = detailsOf(answer);
  const violations = violationsOf(details);
  const retryAfterMs = details
    .map((detail) => protoDurationMs(read(detail, 'retryDelay')) ?? resetDelayMs(detail))
    .find((ms) => ms !== undefined);
  const isKeyInvalid = details.some((detail) => readText(detail, 'reason') === INVALID_KEY);
  const known = isKeyInvalid ? UNAUTHORISED : verdictByWord(KINDS, answer);
  const passing = withoutUndefined({ ...known, retryAfterMs });
  if (violations.length === 0) {
    return known === undefined && retryAfterMs === undefined ? undefined : passing;
  }
  // The delay beside a daily quota belongs to another limit: after it the same answer would come.
  const daily = violations.find(({ quotaId }) => PER_DAY.test(quotaId));
  const limits = violations.flatMap(({ limit }) => limit ?? []);
  const shared = { limit: (daily ?? violations[0])?.quotaId ?? '', limits };
  return daily === undefined ? { ...passing, ...shared } : { ...shared, ...NO_QUOTA };
}

/** Gemini, Vertex AI, and other services that answer with a `google.rpc.Status`. */
export const google: ProviderAdapter = {
  name: 'Google',
  verdict,
};
