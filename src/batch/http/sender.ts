import { type Dispatcher, request as httpRequest } from 'undici';
import { endpointOf } from '../endpoint.ts';
import { codeOf, messageOf } from '../errors.ts';
import { MAX_LINE_BYTES } from '../input/lines.ts';
import { at, isObject } from '../json.ts';
import { shownUrl, withoutQuery } from '../printable.ts';
import type { BatchRequest, BatchResponse, Send } from '../request.ts';
import { errorIn, hasResult } from './answer.ts';
import {
  AnswerTooLongError,
  BadAnswerError,
  CallTimeoutError,
  ConnectionError,
  ProxyConnectionError,
  StatusError,
} from './failures.ts';
import { dispatcherOf, ProxyDownError, proxyProblem } from './proxy.ts';

const ANTHROPIC_URL = '/v1/messages';
const ANTHROPIC_VERSION = '2023-06-01';
const CONNECT_TIMEOUT_MS = 10_000;
/** The code of undici for an answer with more bytes than `maxResponseSize`. */
const TOO_LONG_CODE = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';

export interface HttpOptions {
  /**
   * Of the API, such as `https://api.openai.com/v1`. The part of a request's url after `/v1` is
   * appended to its path. A query is kept.
   */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Sent with each request. They replace default headers of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** URL of an HTTP proxy, or its host and port. Default: from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly proxy?: string | undefined;
  /** For one attempt, including the body of its answer, in ms: at most 2147483647, some 24 days. */
  readonly timeoutMs: number;
}

/** Sends requests over HTTP. */
export interface HttpSender {
  readonly send: Send;
  close(): Promise<void>;
}

/** The longest time of a timer: with a longer one it would fire at once. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws TypeError or RangeError that names a wrong option; BatchError for a wrong proxy */
export function createHttpSender(options: HttpOptions): HttpSender {
  const { baseUrl, timeoutMs } = options;
  // Otherwise each line of a batch would fail for good.
  if (!isHttp(baseUrl)) {
    throw new TypeError(`\`baseUrl\` must be an http or https URL, got ${shownUrl(`${baseUrl}`)}`);
  }
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    const bound = `must be a number > 0 and at most ${MAX_TIMEOUT_MS}`;
    throw new RangeError(`\`timeoutMs\` ${bound}, got ${timeoutMs}`);
  }
  const dispatcher = dispatcherOf(options.proxy, {
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_LINE_BYTES,
  });
  const headers = lowerCased(options.headers);
  return {
    send: (request, { signal }) => sendOnce(request, signal, { ...options, headers }, dispatcher),
    close: () => dispatcher.destroy(),
  };
}

async function sendOnce(
  { url, body, json = JSON.stringify(body) }: BatchRequest,
  signal: AbortSignal,
  { baseUrl, apiKey, headers, timeoutMs }: HttpOptions,
  dispatcher: Dispatcher,
): Promise<BatchResponse> {
  // Errors name the target, and a query may have a key in it.
  const target = withoutQuery(baseUrl).replace(/\/+$/, '') + url.slice('/v1'.length);
  // Not `AbortSignal.any`: a joined signal lives as long as the longest-lived of its sources.
  const attempt = new AbortController();
  const abort = () => attempt.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => attempt.abort(timeoutError(target, timeoutMs)), timeoutMs);
  try {
    const response = await httpRequest(target + baseUrl.slice(withoutQuery(baseUrl).length), {
      method: 'POST',
      dispatcher,
      signal: attempt.signal,
      headers: { 'content-type': 'application/json', ...keyHeaders(url, apiKey), ...headers },
      body: json,
    });
    const text = await response.body.text();
    return checkResult(url, responseOf(target, response, text));
  } catch (error) {
    if (attempt.signal.aborted) throw attempt.signal.reason;
    if (codeOf(error) === TOO_LONG_CODE) throw new AnswerTooLongError(target);
    if (error instanceof StatusError || error instanceof ConnectionError) throw error;
    throw connectionError(target, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

export function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function responseOf(
  target: string,
  { statusCode, headers }: Dispatcher.ResponseData,
  text: string,
): BatchResponse {
  const requestId = headers['x-request-id'] ?? headers['request-id'];
  const common = {
    statusCode,
    headers,
    ...(typeof requestId === 'string' && { requestId }),
  };
  try {
    return { ...common, body: JSON.parse(text) };
  } catch {
    // An error, as of a proxy, may have text as its body; a good answer must be JSON.
    if (statusCode >= 300) return { ...common, body: text };
    throw new BadAnswerError(target, statusCode);
  }
}

/** @throws StatusError for a body with neither an error nor a result, such as `{}` */
function checkResult(url: string, response: BatchResponse): BatchResponse {
  const { statusCode, body } = response;
  const isEmpty = statusCode < 300 && isObject(body) && !errorIn(body) && !hasResult(body);
  // Answers of other APIs have results in other fields.
  if (isEmpty && endpointOf(url) !== undefined) throw new StatusError(response);
  return response;
}

/** Names differ in case alone: `Authorization` must replace `authorization`, not be sent beside it. */
function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function keyHeaders(url: string, apiKey: string | undefined): Record<string, string> {
  const version: Record<string, string> =
    url === ANTHROPIC_URL ? { 'anthropic-version': ANTHROPIC_VERSION } : {};
  if (apiKey === undefined) return version;
  return url === ANTHROPIC_URL
    ? { ...version, 'x-api-key': apiKey }
    : { authorization: `Bearer ${apiKey}` };
}

function timeoutError(target: string, timeoutMs: number): CallTimeoutError {
  return new CallTimeoutError(`no answer from ${target} within ${timeoutMs / 1_000} s`);
}

/** If all addresses of a host failed, the error contains one error for each. */
function connectionError(target: string, error: unknown): ConnectionError {
  const inner = at(error, 'errors', 0) ?? error;
  const refused = proxyProblem(inner);
  if (refused !== undefined) {
    return new ConnectionError(`cannot reach ${target}: ${refused.message}`, refused.code, error);
  }
  if (error instanceof ProxyDownError) {
    return new ProxyConnectionError(error.message, error.code ?? 'ERR_NETWORK', error);
  }
  const code = codeOf(error) ?? codeOf(inner) ?? codeOf(at(error, 'cause')) ?? 'ERR_NETWORK';
  return new ConnectionError(`cannot reach ${target}: ${messageOf(inner)}`, code, error);
}
