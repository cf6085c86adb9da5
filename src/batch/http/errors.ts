import { codeOf, messageOf } from '../errors.ts';
import { at, countAt, isObject, textAt } from '../json.ts';
import type { BatchResponse } from '../request.ts';

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
    super(messageIn(response.body) ?? `HTTP ${response.statusCode}`);
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

/** No answer came in time. What the call has cost is not known. */
export class CallTimeoutError extends ConnectionError {
  constructor(message: string) {
    super(message, 'ETIMEDOUT');
  }
}

/**
 * What a call failed with, as one of the two above where it is that by its shape: SDKs have errors of
 * their own, with `status`, `headers` and `error`, or with the code of a socket in their cause.
 */
export function callError(error: unknown): unknown {
  if (error instanceof StatusError || error instanceof ConnectionError) return error;
  const status = countAt(error, 'status');
  if (status !== undefined && status >= 400) {
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
function messageIn(body: unknown): string | undefined {
  const messages = [
    textAt(body, 'error', 'message'),
    textAt(body, 'error'),
    textAt(body, 'message'),
    textAt(body, 'detail'),
    typeof body === 'string' ? body : undefined,
  ];
  const found = messages.find((message) => message !== undefined && message.trim() !== '');
  return found === undefined ? undefined : shorten(found);
}

/** One line of limited length. */
export function shorten(text: string, length = MESSAGE_LENGTH): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
