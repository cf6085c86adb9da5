import type { ReportedLimit, Verdict } from '../model/feedback.ts';
import { reportedLimits } from './classify.ts';
import {
  isAnyResponse,
  isList,
  isLiveStream,
  isResponse,
  isShape,
  isStatus,
  read,
  readNumber,
} from './shape.ts';

/**
 * The headers of the response in a successful result: a `Response`, a result of axios, of
 * `withResponse()` of the OpenAI and Anthropic SDKs, of `withRawResponse()` of that of Cohere, or of
 * the AI SDK.
 * @returns a `Headers` object or a record, for `reportedLimits`; undefined for other values
 */
export function headersOfResult(value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null || isLiveStream(value)) return undefined;
  const own = headersIn(value);
  return own ?? headersIn(read(value, 'response')) ?? headersIn(read(value, 'rawResponse'));
}

function headersIn(value: unknown): object | undefined {
  const headers = read(value, 'headers');
  if (!isShape(headers) || isList(headers)) return undefined;
  return headers;
}

/** The provider's limits in the value of a successful answer; undefined if there are none. */
export function limitsOfResult(value: unknown): readonly ReportedLimit[] | undefined {
  return limitsIn(headersOfResult(value));
}

/** The provider's limits in any answer, or in headers; undefined if there are none. */
export function limitsOfResultOrHeaders(answer: unknown): readonly ReportedLimit[] | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return limitsIn(headersOfResult(answer) ?? answer);
}

/** Whether an answer, as `observe` gets it, has a status that says that it was accepted. */
export function isSuccess(answer: unknown): boolean {
  const status = [answer, read(answer, 'response')]
    .flatMap((layer) => [read(layer, 'status'), read(layer, 'statusCode')])
    .find(isStatus);
  return status !== undefined && status >= 200 && status < 300;
}

function limitsIn(headers: object | undefined): readonly ReportedLimit[] | undefined {
  if (headers === undefined) return undefined;
  const limits = reportedLimits(headers);
  return limits.length === 0 ? undefined : limits;
}

/**
 * Fields that hold a result. A value with one of them is not an error, even if it has an `error`.
 */
export const RESULT_KEYS = [
  'choices',
  'content',
  'candidates',
  'output',
  'outputs',
  'data',
  'result',
  'results',
  'completion',
  'generations',
  'predictions',
  'embeddings',
  'text',
] as const;

/**
 * Finds the error in a value: a body `{"error": …}` without a result, which came with status 200,
 * itself or in the answer of a client, such as axios; or an unsuccessful answer with a status and
 * `headers`, as undici's `request`, got, axios and Azure's REST clients may return it. For a result
 * it costs two property reads.
 * @returns undefined for a value that is a result
 */
export function errorIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isResponse(value)) return undefined;
  const error = errorOfBody(value);
  if (error !== undefined || headersIn(value) === undefined || isAnyResponse(value)) return error;
  return isRefusal(value) ? value : errorOfBody(read(value, 'data') ?? read(value, 'body'));
}

function errorOfBody(body: unknown): unknown {
  const error = read(body, 'error');
  const isError = typeof error === 'object' ? error !== null : typeof error === 'string';
  if (!isError || error === '') return undefined;
  const status = read(body, 'status') ?? read(body, 'statusCode') ?? read(error, 'status');
  // Supabase returns `{error, data: null, status: 429}`, Better Fetch `{error: {status}, data: null}`.
  if (isStatus(status) && status >= 400) return body;
  if (RESULT_KEYS.some((key) => read(body, key) !== undefined)) return undefined;
  // Remove the status 200, which says nothing about the error in the body.
  return isStatus(status) ? error : body;
}

function isRefusal(value: object): boolean {
  const status = readNumber(value, 'statusCode') ?? readNumber(value, 'status');
  return isStatus(status) && status >= 400;
}

/**
 * Whether the verdict recognised the error in a body. An unrecognised one counts as a result:
 * `error` may be an ordinary field of that API.
 */
export function isKnownError({ kind, retry, status, outage }: Verdict): boolean {
  if (kind === 'ok') return false;
  return kind !== 'failed' || retry !== false || status !== undefined || outage !== undefined;
}
