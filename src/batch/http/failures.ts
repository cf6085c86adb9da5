import type { Verdict } from 'headgate';
import { classify } from 'headgate/advanced';
import { codeOf, messageOf } from '../errors.ts';
import { at, countAt, isObject, textAt } from '../json.ts';
import { printable } from '../printable.ts';
import type { BatchResponse } from '../request.ts';
import { problemOf } from './answer.ts';

/** How much of a server's words is repeated. */
const MESSAGE_LENGTH = 300;

/** The server answered, and said no. headgate reads `status`, `headers` and `error`. */
export class StatusError extends Error {
  readonly status: number;
  readonly headers: BatchResponse['headers'];
  /** What the body says of the error. */
  readonly error: unknown;
  readonly response: BatchResponse;

  constructor(response: BatchResponse) {
    super(shorten(messageIn(response) ?? problemOf(response)));
    this.response = response;
    this.status = response.statusCode;
    this.headers = response.headers;
    this.error = response.body;
  }
}

/** No answer came. */
export class ConnectionError extends Error {
  /** Of the socket, such as `ECONNREFUSED`: headgate tells by it whether to send again. */
  readonly code: string;

  constructor(message: string, code: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** What answered is not a model API: a good answer of one is JSON. */
export class BadAnswerError extends ConnectionError {
  readonly statusCode: number;

  constructor(target: string, statusCode: number) {
    super(`${target} answered ${statusCode} with a body that is not JSON`, 'ERR_NETWORK');
    this.statusCode = statusCode;
  }
}

/** An answer of this length could not be written down: it is not read to its end. */
export class AnswerTooLongError extends Error {
  /** The kind of error, which results show. */
  override readonly name = 'ANSWER_TOO_LONG';

  constructor(target: string) {
    super(`${target} answered with more than 64 MiB`);
  }
}

/** No answer came in time. What the call has cost is not known. */
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

/** OpenAI says `{error: {message}}`; others `{error}`, `{message}`, `{detail}` or plain text. */
function messageIn({ statusCode, body }: BatchResponse): string | undefined {
  // What a redirect says beside its address is no help.
  if (statusCode >= 300 && statusCode < 400) return undefined;
  const messages = [
    textAt(body, 'error', 'message'),
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

/** What a proxy says of a server that is down. */
const GATEWAY_STATUSES = [502, 503, 504];
/** So many failures in a row, of all requests, are the server's. */
const IN_A_ROW = 5;
/** So many connections that fail in a row are shown as an outage, as the limiter has it. */
const SHOWN_IN_A_ROW = 3;

/**
 * Follows for how long a server has been down, for the screen and for the end of the run. What the
 * limiter does not know as an outage is judged here: a proxy that answers for a server that is down.
 */
export class OutageWatch {
  /** Whether any answer of the server itself came. */
  wasReached = false;
  #since: number | undefined = undefined;
  #failures = 0;
  #attempts = 0;
  #last = '';
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** For how long there has been no answer, in ms; 0: the last attempt had one. */
  get downForMs(): number {
    return this.#since === undefined ? 0 : this.#now() - this.#since;
  }

  /** Whether the server is taken for down. */
  get isDown(): boolean {
    return this.#failures >= SHOWN_IN_A_ROW || (this.#failures > 0 && !this.wasReached);
  }

  /** What was tried without an answer, in words. */
  get tried(): string {
    return `${this.#attempts} ${this.#attempts === 1 ? 'attempt' : 'attempts'}, the last: ${this.#last}`;
  }

  /** An answer came. */
  answered(): void {
    this.wasReached = true;
    this.#since = undefined;
    this.#failures = 0;
    this.#attempts = 0;
  }

  /** An attempt has failed. @returns what that says of the server; undefined: what the limiter says */
  failed(error: unknown): Verdict | undefined {
    // A request that takes too long may take as long again, and is paid for each time.
    if (error instanceof CallTimeoutError) return undefined;
    // A server that has answered well before is there: the request may be the cause.
    if (error instanceof BadAnswerError && this.wasReached) {
      this.answered();
      return { kind: 'failed', retry: true, status: error.statusCode };
    }
    // Whatever the body says of limits: an answer that is none would be none again.
    if (error instanceof StatusError && error.status < 400) {
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
    this.#last = error.message;
    // The limiter waits for a server that cannot be reached.
    if (error instanceof ConnectionError && classify(error).connection !== undefined) {
      return undefined;
    }
    return this.#failures >= IN_A_ROW ? { kind: 'overloaded', retry: true } : undefined;
  }
}
