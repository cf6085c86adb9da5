import {
  type FeedbackKind,
  isRejection,
  type ReportedLimit,
  type Verdict,
} from '../model/feedback.ts';
import { checkFields } from '../util/check.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import type { PartialVerdict, ProviderAdapter, ProviderResponse } from './adapter.ts';
import { addConnectionCodes, connectionOf, isConnectionError, isTimeout } from './connection.ts';
import { errorChain, FIRST_OF_ERRORS, isIn, statusOf, textsOf, wordsOf } from './error-chain.ts';
import { headersOf } from './headers.ts';
import { namesInFlight } from './in-flight.ts';
import { positive } from './shape.ts';
import { delayInBody, delayInText, limitInText, unitInText } from './stated-limits.ts';
import { dateMs, PASSED_ON, retryAfterOf } from './times.ts';

/** Texts that mean the same as a 429, for errors without a status. */
const THROTTLED_TEXT = /\b429\b.{0,20}\btoo many requests\b|\brate limit reached for\b/i;

/** Texts of a 429 that speak of the servers' capacity: no limit of the account was hit. */
const OVERLOADED =
  /\b(?:model|engine|server|service) is (?:currently |temporarily )?overloaded\b|\bcapacity temporarily exceeded\b/i;

/** Texts of a 429 of an account that has no money left. Other errors may quote a request. */
const NO_BALANCE = /\binsufficient (?:account )?(?:balance|credits?|funds)\b|欠费|余额不足/i;

/** A body that is a short message, neither JSON nor HTML. */
const PLAIN = /^[^<{[]{1,200}$/;

/** Statuses below 500 of temporary failures: the same request may succeed when it is sent again. */
const RETRIED_STATUSES = [408, 409];

/** Statuses that every request gets until the account is corrected. */
const OUTAGE_STATUSES: ReadonlyMap<number, string> = new Map([
  [401, 'authorisation'],
  [402, 'billing'],
  [403, 'authorisation'],
]);

/** Reads limits from headers, as `reportedLimits` does. */
export type LimitReader = (
  header: ProviderResponse['header'],
  answeredAtMs: () => number,
) => readonly ReportedLimit[];

/**
 * Returns the meaning of an error or of a response that is not ok. The first adapter that
 * recognises it decides; the fields that it leaves open follow from the status, the codes and the
 * headers.
 * @param body the text of a response's body, if it was read
 */
export function judge(
  error: unknown,
  body: string | undefined,
  readers: readonly ProviderAdapter[],
  limitsOf: LimitReader,
): Verdict {
  const chain = errorChain(error, body);
  const status = statusOf(chain);
  const words = wordsOf(chain);
  const texts = textsOf(error, chain);
  addConnectionCodes(words, texts, chain);
  texts.push(...(body?.match(PLAIN) ?? []));
  const headers = headersOf(chain);
  const answeredAtMs = () => dateMs(headers.date) ?? Date.now();
  const header = (name: string) => (Object.hasOwn(headers, name) ? headers[name] : undefined);
  const answer: ProviderResponse = { status, chain, words, texts, header, answeredAtMs };
  const verdict = verdictOf(answer, readers);
  const kind = verdict.kind ?? kindOf(answer);
  if (kind === undefined) {
    return withoutUndefined({
      kind: 'failed',
      retry: isConnectionError(words),
      connection: connectionOf(words, texts, status !== undefined),
      timedOut: isTimeout(words) || undefined,
    });
  }
  const limits = [...limitsOf(header, answeredAtMs), ...(verdict.limits ?? [])];
  const stated = kind === 'throttled' && limits.length === 0 ? limitInText(texts) : undefined;
  if (stated !== undefined) limits.push(stated);
  const limit =
    verdict.limit ??
    (isRejection({ kind }) ? (hitLimit(answer, limits) ?? stated?.unit) : undefined);
  const outage = verdict.outage ?? (kind === 'fatal' ? outageOf(answer) : undefined);
  // For a final answer prefer the wait in the body: the header may describe another limit.
  const askedMs = verdict.ignoresRetryAfter ? undefined : retryAfterOf(headers, Date.now);
  const bodyMs =
    positive(verdict.retryAfterMs) ??
    (isRejection({ kind }) ? (delayInBody(chain) ?? delayInText(texts)) : undefined);
  const retryAfterMs = kind === 'fatal' ? (bodyMs ?? askedMs) : (askedMs ?? bodyMs);
  return withoutUndefined({
    kind,
    retry: !isFinal(headers) && (verdict.retry ?? kind !== 'fatal'),
    headers,
    status,
    retryAfterMs,
    limit,
    limits: limits.length > 0 ? limits : undefined,
    outage,
    // A server that has given the request up; an adapter may know another meaning.
    timedOut: (status === 408 && verdict.kind === undefined) || undefined,
  });
}

const NO_REMARK: PartialVerdict = {};

/** The fields of a verdict that adapters know too. */
export const SHARED_FIELDS = [
  'kind',
  'retry',
  'retryAfterMs',
  'limit',
  'limits',
  'outage',
] as const satisfies readonly (keyof Verdict & keyof PartialVerdict)[];
const ADAPTER_FIELDS = [...SHARED_FIELDS, 'ignoresRetryAfter'] as const;

function verdictOf(answer: ProviderResponse, readers: readonly ProviderAdapter[]): PartialVerdict {
  for (const reader of readers) {
    const verdict = reader.verdict?.(answer);
    if (verdict === undefined) continue;
    checkFields(`verdict() of ${reader.name}`, verdict, ADAPTER_FIELDS);
    return verdict;
  }
  return NO_REMARK;
}

/** Whether the provider, or the provider behind a LiteLLM proxy, forbids a retry. */
function isFinal(headers: Readonly<Record<string, string>>): boolean {
  return (headers['x-should-retry'] ?? headers[`${PASSED_ON}x-should-retry`]) === 'false';
}

/**
 * The kind of an answer by its status; undefined: it is not an answer of a provider, or it did not
 * arrive whole.
 */
function kindOf({
  status,
  chain,
  words,
  texts,
  header,
}: ProviderResponse): FeedbackKind | undefined {
  if ((status ?? 0) < FIRST_OF_ERRORS && isConnectionError(words)) return undefined;
  if (status === undefined) {
    return chain.length === 0 && isIn(texts, THROTTLED_TEXT) ? 'throttled' : undefined;
  }
  // GitHub's limits may answer 403, which passes. Retry-After alone is no sign: Varnish adds it to
  // every error.
  const left = header('x-ratelimit-remaining');
  if (status === 403 && left && (left === '0' || header('retry-after'))) return 'throttled';
  if (status === 429) {
    if (isIn(texts, NO_BALANCE)) return 'fatal';
    return isIn(texts, OVERLOADED) ? 'overloaded' : 'throttled';
  }
  if (status === 503 || status === 529) return 'overloaded';
  if (status >= 500 || RETRIED_STATUSES.includes(status)) return 'failed';
  return 'fatal';
}

function outageOf({ status = 0, texts }: ProviderResponse): string | undefined {
  return status === 429 && isIn(texts, NO_BALANCE) ? 'billing' : OUTAGE_STATUSES.get(status);
}

/**
 * The unit of the limit that was hit: `'concurrency'` if the answer names it; else the unit of the
 * limit with nothing left, if there is exactly one; else the unit that a text names.
 */
function hitLimit(answer: ProviderResponse, limits: readonly ReportedLimit[]): string | undefined {
  if (namesInFlight(answer)) return 'concurrency';
  const used = limits.filter(({ remaining }) => remaining === 0);
  return used.length === 1 ? used[0]?.unit : unitInText(answer.texts);
}
