import type { Verdict } from 'headgate';
import { classify } from 'headgate/advanced';
import { codeOf, messageOf } from '../errors.ts';
import { at, countAt, isObject, textAt } from '../json.ts';
import { printable } from '../printable.ts';
import type { BatchResponse } from '../request.ts';
import { errorIn, problemOf } from './answer.ts';

/** The most characters of a server's message that an error repeats. */
const MESSAGE_LENGTH = 300;

/** The server answered with an error. headgate reads `status`, `headers` and `error`. */
export class StatusError extends Error {
  readonly status: number;
  readonly headers: BatchResponse['headers'];
  /** The body of the answer, with the error that it states in `error`. */
  readonly error: unknown;
  readonly response: BatchResponse;

  constructor(response: BatchResponse) {
    super(shorten(messageIn(response) ?? problemOf(response)));
    this.response = response;
    this.status = response.statusCode;
    this.headers = response.headers;
    const { body } = response;
    const error = errorIn(body);
    this.error = isObject(body) && isObject(error) ? { ...body, error } : body;
  }
}

/** No answer came. */
export class ConnectionError extends Error {
  /** Of the socket, such as `ECONNREFUSED`. headgate decides by it whether to send again. */
  readonly code: string;

  constructor(message: string, code: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The proxy cannot be reached. */
export class ProxyConnectionError extends ConnectionError {}

/** A good status with a body that is not JSON: the server is not a model API. */
export class BadAnswerError extends ConnectionError {
  /** Not named `status` or `statusCode`: an error with one is an answer that broke off. */
  readonly pageStatus: number;

  constructor(target: string, pageStatus: number) {
    super(`${target} answered ${pageStatus} with a body that is not JSON`, 'ERR_NETWORK');
    this.pageStatus = pageStatus;
  }
}

/** The answer is too long for a line of the output, and was not read to its end. */
export class AnswerTooLongError extends Error {
  /** The kind of error, which results show. */
  override readonly name = 'ANSWER_TOO_LONG';

  constructor(target: string) {
    super(`${target} answered with more than 64 MiB`);
  }
}

/** No answer came in time. The cost of the call is not known. */
export class CallTimeoutError extends ConnectionError {
  constructor(message: string) {
    super(message, 'ETIMEDOUT');
  }
}

/**
 * Converts an error of an SDK to a StatusError or ConnectionError, by its shape: SDK errors have
 * `status`, `headers` and `error`, or a cause with the code of a socket. Other errors stay as they
 * are.
 */
export function callError(error: unknown): unknown {
  if (error instanceof StatusError || error instanceof ConnectionError) return error;
  const status = countAt(error, 'status');
  if (status !== undefined && status >= 300) {
    const body = at(error, 'error') ?? messageOf(error);
    return new StatusError({
      statusCode: status,
      headers: headersIn(error),
      body: { error: body },
    });
  }
  const code = codeOf(error) ?? codeOf(at(error, 'cause')) ?? codeOf(at(error, 'cause', 'cause'));
  return code === undefined ? error : new ConnectionError(messageOf(error), code, error);
}

function headersIn(error: unknown): BatchResponse['headers'] {
  const headers = at(error, 'headers');
  if (headers instanceof Headers) return Object.fromEntries(headers);
  return isObject(headers) ? Object.fromEntries(Object.entries(headers).filter(isTextEntry)) : {};
}

function isTextEntry(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string';
}

/** OpenAI sends `{error: {message}}`; others `{error}`, `{message}`, `{detail}` or plain text. */
function messageIn({ statusCode, body }: BatchResponse): string | undefined {
  // The body of a redirect is of no use; `problemOf` names its address.
  if (statusCode >= 300 && statusCode < 400) return undefined;
  const messages = [
    textAt(errorIn(body), 'message'),
    textAt(body, 'error'),
    textAt(body, 'message'),
    textAt(body, 'detail'),
    typeof body === 'string' ? body : undefined,
  ];
  return messages.find((message) => message !== undefined && message.trim() !== '');
}

/** One line of limited length, without control characters. */
export function shorten(text: string, length = MESSAGE_LENGTH): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

/** Statuses by which a proxy reports that a server is down. */
const GATEWAY_STATUSES = [502, 503, 504];
/** After this number of failures in a row, of any requests, the server is taken for the cause. */
const IN_A_ROW = 5;
/** Failures in a row that are shown as an outage: the same number as in the limiter. */
const SHOWN_IN_A_ROW = 3;

/**
 * Measures for how long a server has been down, for the screen and for the end of the run. It also
 * finds an outage that the limiter does not: a proxy that answers for a server that is down.
 */
export class OutageWatch {
  /** Whether any answer of the server itself came. */
  wasReached = false;
  #since: number | undefined = undefined;
  #failures = 0;
  #attempts = 0;
  /** Bad answers since the last good one. */
  #bad = 0;
  #last: Error | undefined = undefined;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Time since the first of the failures without an answer, in ms; 0: an answer came last. */
  get downForMs(): number {
    return this.#since === undefined ? 0 : this.#now() - this.#since;
  }

  /** Whether the server counts as down. */
  get isDown(): boolean {
    return this.#failures >= SHOWN_IN_A_ROW || (this.#failures > 0 && !this.wasReached);
  }

  /** What did not answer at the last attempt. */
  get culprit(): 'server' | 'proxy' {
    return this.#last instanceof ProxyConnectionError ? 'proxy' : 'server';
  }

  /** The number of attempts without an answer, and the last error, in words. */
  get tried(): string {
    return `${this.#attempts} ${this.#attempts === 1 ? 'attempt' : 'attempts'}, the last: ${this.#last?.message ?? ''}`;
  }

  /** An answer came. */
  answered(): void {
    this.#bad = 0;
    this.#isThere();
  }

  /** An attempt has failed. @returns undefined: the limiter's own verdict applies */
  failed(error: unknown): Verdict | undefined {
    // The limiter decides: a request that takes too long may do so again, and is paid each time.
    if (error instanceof CallTimeoutError) return undefined;
    // A server that has answered before may not be down: the request may be the cause.
    if (error instanceof BadAnswerError && this.wasReached && this.#bad < IN_A_ROW - 1) {
      this.#bad += 1;
      this.#isThere();
      return { kind: 'failed', retry: true, status: error.pageStatus };
    }
    // Do not retry a status below 400 without a result, even if its body mentions a limit; but
    // OpenRouter answers 200 with the status of the model's provider in the body.
    if (error instanceof StatusError && (classify(error).status ?? error.status) < 400) {
      this.answered();
      return { kind: 'failed', retry: false, status: error.status };
    }
    const isGateway = error instanceof StatusError && GATEWAY_STATUSES.includes(error.status);
    if (!isGateway && !(error instanceof ConnectionError)) {
      if (error instanceof StatusError) this.answered();
      return undefined;
    }
    this.#since ??= this.#now();
    this.#failures += 1;
    this.#attempts += 1;
    this.#last = error;
    // The limiter itself waits for a server that cannot be reached.
    if (error instanceof ConnectionError && classify(error).connection !== undefined) {
      return undefined;
    }
    return this.#failures >= IN_A_ROW ? { kind: 'overloaded', retry: true } : undefined;
  }

  #isThere(): void {
    this.wasReached = true;
    this.#since = undefined;
    this.#failures = 0;
    this.#attempts = 0;
  }
}
