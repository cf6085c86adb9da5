import type { Prompt } from './prompts.ts';

/** The most characters of a server's message that are repeated. */
const MESSAGE_LENGTH = 300;
const NO_KEY = ' (no key was sent: OPENAI_API_KEY is not set)';

/** The server answered with an error. headgate reads `status`, `headers` and `code`. */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** The server's error code, such as `insufficient_quota`, if there is one. */
  readonly code: string | undefined;

  constructor(url: string, { status, headers }: Response, words: string, code?: string) {
    super(`${url} answered ${status}: ${words}`);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}

/** There was no answer. */
export class ConnectionError extends Error {
  /** The socket's error code, such as `ECONNREFUSED`. headgate decides by it whether to retry. */
  readonly code: string | undefined;

  constructor(url: string, error: unknown) {
    super(`cannot reach ${url}: ${reasonOf(error)}`, { cause: error });
    const code = read(read(error, 'cause'), 'code');
    this.code = typeof code === 'string' ? code : undefined;
  }
}

export interface ClientOptions {
  /** The address of the API, ending in `/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | undefined;
}

export interface Answer {
  readonly text: string;
  /** The tokens of prompt and answer together; undefined: not reported. */
  readonly tokens: number | undefined;
  /** The response's headers, in which many servers report their limits. */
  readonly headers: Headers;
}

/** Makes one call, without retries: headgate makes these. */
export type Complete = (prompt: Prompt, signal: AbortSignal) => Promise<Answer>;

/** A client of any server that speaks OpenAI's chat completions. */
export function createClient({ baseUrl, model, apiKey }: ClientOptions): Complete {
  const url = `${baseUrl}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
  return async ({ messages, maxTokens }, signal) => {
    const body = JSON.stringify({ model, messages, max_tokens: maxTokens });
    const { response, text } = await post(url, { method: 'POST', headers, body, signal });
    const answer = parse(text);
    if (!response.ok) throw refusalOf(url, response, text, answer, apiKey);
    const content = read(read(read(read(answer, 'choices'), 0), 'message'), 'content');
    // A message with tool calls has no content.
    const words = content === null ? '' : content;
    const { headers: told } = response;
    if (typeof words === 'string') return { text: words, tokens: tokensOf(answer), headers: told };
    throw new ApiError(url, response, `no choices[0].message.content in ${shorten(text)}`);
  };
}

async function post(url: string, request: RequestInit) {
  try {
    const response = await fetch(url, request);
    return { response, text: await response.text() };
  } catch (error) {
    throw request.signal?.aborted ? error : new ConnectionError(url, error);
  }
}

/**
 * OpenAI sends `{error: {message, code}}`; others `{error}`, `{message}`, `{detail}` or plain text.
 */
function refusalOf(
  url: string,
  response: Response,
  text: string,
  answer: unknown,
  apiKey: string | undefined,
): ApiError {
  const error = read(answer, 'error');
  const code = read(error, 'code');
  const messages = [
    read(error, 'message'),
    error,
    read(answer, 'message'),
    read(answer, 'detail'),
    text,
  ];
  const words = messages.find((message) => typeof message === 'string' && message !== '');
  const shown = typeof words === 'string' ? shorten(words) : response.statusText;
  const hint = response.status === 401 && apiKey === undefined ? NO_KEY : '';
  return new ApiError(url, response, shown + hint, typeof code === 'string' ? code : undefined);
}

/**
 * Reads `usage.total_tokens`. Ignores a value that is not a count, since the request has succeeded.
 */
function tokensOf(answer: unknown): number | undefined {
  const tokens = read(read(answer, 'usage'), 'total_tokens');
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
    ? tokens
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function read(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= MESSAGE_LENGTH ? line : `${line.slice(0, MESSAGE_LENGTH)}...`;
}

/** The message of the cause, since `fetch failed` gives no reason. */
function reasonOf(error: unknown): string {
  const cause = read(error, 'cause') ?? error;
  const words = [read(cause, 'message'), read(cause, 'code'), read(error, 'message')];
  return String(words.find((word) => typeof word === 'string' && word !== '') ?? error);
}
