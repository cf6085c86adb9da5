import type { LimitUnit, ReportedLimit } from '../../model/feedback.ts';
import { isList, isShape, read, readList, readNumber, readText } from '../shape.ts';
import type { Answer, Reader, Remark } from './reader.ts';
import { DAY_MS, MINUTE_MS, reported } from './rows.ts';
import { durationMs, plainNumber } from './times.ts';

/** Of `google.rpc.Status`: no answer has more details. */
const MOST_DETAILS = 16;
const PER_DAY = /per_?day/i;

/** Statuses by name, where no number is told. */
const KINDS: Readonly<Record<string, Remark>> = {
  RESOURCE_EXHAUSTED: { kind: 'throttled' },
  UNAVAILABLE: { kind: 'overloaded' },
  UNAUTHENTICATED: { kind: 'fatal', outage: 'authorisation' },
  PERMISSION_DENIED: { kind: 'fatal', outage: 'authorisation' },
};

interface Violation {
  readonly quotaId: string;
  readonly limit: ReportedLimit | undefined;
}

/** `22s` or `1.5s` in JSON; seconds and nanoseconds where a message was decoded. */
function protoDurationMs(value: unknown): number | undefined {
  if (typeof value === 'string') return durationMs(value);
  if (!isShape(value)) return undefined;
  const seconds = readNumber(value, 'seconds') ?? 0;
  return seconds * 1000 + (readNumber(value, 'nanos') ?? 0) / 1e6;
}

function detailsOf({ layers }: Answer): readonly unknown[] {
  for (const layer of layers) {
    for (const key of ['details', 'errorDetails', 'statusDetails']) {
      const details = readList(read(layer, key), MOST_DETAILS);
      if (details.some(isShape)) return details;
    }
  }
  // A list of details that is itself the whole text.
  const list = layers.find(isList);
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

function remark(answer: Answer): Remark | undefined {
  const details = detailsOf(answer);
  const violations = violationsOf(details);
  const delayMs = details
    .map((detail) => protoDurationMs(read(detail, 'retryDelay')))
    .find((ms) => ms !== undefined);
  const word = Object.keys(KINDS).find((one) => answer.words.has(one));
  const said = word === undefined ? undefined : KINDS[word];
  if (violations.length === 0) {
    if (said === undefined && delayMs === undefined) return undefined;
    return { ...said, ...(delayMs !== undefined && { retryAfterMs: delayMs }) };
  }
  // The delay beside a quota of the day is of another bucket: after it the same answer comes.
  const daily = violations.find(({ quotaId }) => PER_DAY.test(quotaId));
  const limits = violations.flatMap(({ limit }) => limit ?? []);
  const shared = { limit: (daily ?? violations[0])?.quotaId ?? '', limits };
  if (daily !== undefined) return { ...shared, kind: 'fatal', outage: 'quota' };
  return {
    ...said,
    ...shared,
    ...(delayMs !== undefined && { retryAfterMs: delayMs }),
  };
}

/** Gemini and Vertex AI, and what else answers with a `google.rpc.Status`. */
export const google: Reader = {
  name: 'Google',
  reads:
    '`RESOURCE_EXHAUSTED` and other statuses; `RetryInfo.retryDelay`; `QuotaFailure` and `ErrorInfo`: which quota, its value and window; a quota of the day (final, whatever delay is beside it)',
  remark,
};
