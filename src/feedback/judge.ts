import type { FeedbackKind, ReportedLimit, Verdict } from '../model/feedback.ts';
import { headersOf } from './headers.ts';
import { layersOf, statusOf, textsOf, wordsOf } from './layers.ts';
import { positive } from './positive.ts';
import { delayInText } from './providers/delay-in-text.ts';
import type { Answer, Reader, Remark } from './providers/reader.ts';
import { dateMs } from './providers/times.ts';
import { retryAfterOf } from './retry-after.ts';

/** Codes of Node's sockets, of its resolver, of undici, of SDKs and of headgate itself that mean: no answer came. */
const CONNECTION_CODES = [
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_NETWORK',
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_SESSION_ERROR',
  'ERR_HTTP2_STREAM_ERROR',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'APIConnectionError',
  'APIConnectionTimeoutError',
  'ATTEMPT_TIMEOUT',
];

/** A text alone that says what a 429 would. */
const THROTTLED_TEXT = /\b429\b.{0,20}\btoo many requests\b|\brate limit reached for\b/i;

/** Texts of a 429 that speak of what is in flight: "max concurrency: 1" (Moonshot) and the like. */
const IN_FLIGHT =
  /\b(?:(?:too many|max(?:imum)?|number of) (?:concurrent|parallel|simultaneous) (?:requests|connections|sessions|calls)|max(?:imum)? concurrency|concurrency limit)\b/i;

/** Statuses of passing failures: the same request may go well next time. */
const RETRIED_STATUSES = [408, 409];

/** Statuses that every request will meet until somebody mends the account. */
const OUTAGE_STATUSES: ReadonlyMap<number, string> = new Map([
  [401, 'authorisation'],
  [402, 'billing'],
  [403, 'authorisation'],
]);

/** What tells limits by headers, such as `reportedLimits`. */
export type LimitReader = (
  header: Answer['header'],
  answeredAtMs: () => number,
) => readonly ReportedLimit[];

/**
 * What an error, or a response that says no, means: what the first reader says that knows it, and
 * for the rest its status, its codes and its headers.
 * @param body of a response, where it has been read
 */
export function judge(
  error: unknown,
  body: string | undefined,
  readers: readonly Reader[],
  limitsOf: LimitReader,
): Verdict {
  const layers = layersOf(error, body);
  const status = statusOf(layers);
  const words = wordsOf(layers);
  const texts = textsOf(error, layers);
  const headers = headersOf(layers);
  const answeredAtMs = () => dateMs(headers.date) ?? Date.now();
  const header = (name: string) => (Object.hasOwn(headers, name) ? headers[name] : undefined);
  const answer: Answer = { status, layers, words, texts, header, answeredAtMs };
  const remark = remarkOf(answer, readers);
  const kind = remark.kind ?? kindOf(answer);
  if (kind === undefined) {
    return { kind: 'failed', retry: CONNECTION_CODES.some((code) => words.has(code)) };
  }
  const limits = [...limitsOf(header, answeredAtMs), ...(remark.limits ?? [])];
  const limit = remark.limit ?? (kind === 'throttled' ? hitLimit(texts, limits) : undefined);
  const outage = remark.outage ?? (kind === 'fatal' ? OUTAGE_STATUSES.get(status ?? 0) : undefined);
  // Of an answer that is final the body knows more: its header may speak of another limit.
  const saidMs = remark.ignoresRetryAfter ? undefined : retryAfterOf(headers, Date.now);
  const bodyMs =
    positive(remark.retryAfterMs) ?? (isPassing(kind) ? delayInText(texts) : undefined);
  const retryAfterMs = kind === 'fatal' ? (bodyMs ?? saidMs) : (saidMs ?? bodyMs);
  return {
    kind,
    retry: !isFinal(headers) && (remark.retry ?? kind !== 'fatal'),
    headers,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(limit !== undefined && { limit }),
    ...(limits.length > 0 && { limits }),
    ...(outage !== undefined && { outage }),
  };
}

const NO_REMARK: Remark = {};

function remarkOf(answer: Answer, readers: readonly Reader[]): Remark {
  for (const reader of readers) {
    const remark = reader.remark?.(answer);
    if (remark !== undefined) return remark;
  }
  return NO_REMARK;
}

/** Said by the provider, or by the one behind the LiteLLM proxy. */
function isFinal(headers: Readonly<Record<string, string>>): boolean {
  return (headers['x-should-retry'] ?? headers['llm_provider-x-should-retry']) === 'false';
}

function isPassing(kind: FeedbackKind): boolean {
  return kind === 'throttled' || kind === 'overloaded';
}

/** undefined: there is no answer of a provider here at all. */
function kindOf({ status, layers, texts }: Answer): FeedbackKind | undefined {
  if (status === undefined) {
    const isText = layers.length === 0 && texts.some((text) => THROTTLED_TEXT.test(text));
    return isText ? 'throttled' : undefined;
  }
  if (status === 429) return 'throttled';
  if (status === 503 || status === 529) return 'overloaded';
  if (status >= 500 || RETRIED_STATUSES.includes(status)) return 'failed';
  return 'fatal';
}

/** What is in flight, where a text says so; else the one limit of which nothing is left, if it is alone. */
function hitLimit(texts: readonly string[], limits: readonly ReportedLimit[]): string | undefined {
  if (texts.some((text) => IN_FLIGHT.test(text))) return 'concurrency';
  const used = limits.filter(({ remaining }) => remaining === 0);
  return used.length === 1 ? used[0]?.unit : undefined;
}
