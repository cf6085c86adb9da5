import { anthropicLimitHeaders, retryAfterSeconds } from '../answer-headers.ts';
import { type CompletionFormat, complete } from './completion.ts';
import type { Dialect, Route } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import {
  invalidField,
  isObject,
  type JsonObject,
  optionalCount,
  optionalFlag,
  Problem,
  readJson,
  requireList,
  requireText,
} from './request-body.ts';
import { countTokens, type ModelOutput, writeOutput } from './text.ts';

const MIB = 1024 * 1024;

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function errorBody(status: number, message: string, requestId: string) {
  const type = TYPES[status] ?? 'api_error';
  return { type: 'error', error: { type, message }, request_id: `req_${requestId}` };
}

/** Keys, headers and errors as in Anthropic's API reference. A 503 becomes a 529. */
export const anthropicDialect: Dialect = {
  maxBytes: 32 * MIB,
  apiKey: (exchange) => exchange.header('x-api-key') ?? exchange.bearer(),
  headers: (exchange) => ({ 'request-id': `req_${exchange.id}` }),
  limitHeaders: (limits, context, ageMs) =>
    anthropicLimitHeaders(limits, context.wallNow() - ageMs),
  problem: ({ status, message }, exchange) => ({
    status,
    headers: {},
    body: errorBody(status, message, exchange.id),
  }),
  refusal: (answer, exchange) => {
    const status = answer.status === 503 ? 529 : answer.status;
    const { message = '', retryAfterMs } = answer;
    const headers: Record<string, string> = {};
    if (retryAfterMs !== undefined) headers['retry-after'] = retryAfterSeconds(retryAfterMs);
    return { status, headers, body: errorBody(status, message, exchange.id) };
  },
};

const MOST_TOKENS = 1_000_000;

/** Tokens that the roles and delimiters of one message take. */
const TOKENS_PER_MESSAGE = 4;

interface MessageRequest {
  readonly model: string;
  readonly prompt: string;
  readonly inputTokens: number;
  readonly maxTokens: number;
  readonly stream: boolean;
}

function countMessages(body: JsonObject): number {
  return requireList(body, 'messages').reduce<number>((sum, message, index) => {
    const at = `messages.${index}`;
    if (!isObject(message)) throw invalidField(at, 'an object is required');
    const { role, content } = message;
    if (role !== 'user' && role !== 'assistant') {
      throw invalidField(`${at}.role`, "'user' or 'assistant' is required");
    }
    if (typeof content !== 'string' && !Array.isArray(content)) {
      throw invalidField(`${at}.content`, 'a string or a list of blocks is required');
    }
    return sum + TOKENS_PER_MESSAGE + countTokens(content);
  }, 0);
}

function readMessages(body: JsonObject, models: readonly string[] | undefined): MessageRequest {
  const model = requireText(body, 'model');
  const maxTokens = optionalCount(body, 'max_tokens', MOST_TOKENS);
  if (maxTokens === undefined) throw invalidField('max_tokens', 'an integer >= 1 is required');
  const { system, messages } = body;
  const inputTokens = countMessages(body) + countTokens(system);
  const stream = optionalFlag(body, 'stream');
  if (models !== undefined && !models.includes(model)) {
    throw new Problem(404, `model: ${model}`, { code: 'model_not_found' });
  }
  const prompt = JSON.stringify([model, system, messages]);
  return { model, prompt, inputTokens, maxTokens, stream };
}

function messageFormat(
  exchange: Exchange,
  { model, inputTokens }: MessageRequest,
  output: ModelOutput,
): CompletionFormat {
  const id = `msg_${exchange.id}`;
  const head = { id, type: 'message', role: 'assistant', model };
  const end = { stop_reason: output.cut ? 'max_tokens' : 'end_turn', stop_sequence: null };
  const open = { stop_reason: null, stop_sequence: null };
  const send = (type: string, fields: object = {}) => exchange.sendEvent({ type, ...fields }, type);
  return {
    whole: ({ usage }) => ({
      ...head,
      content: [{ type: 'text', text: output.words.join('') }],
      ...end,
      usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
    }),
    started: () => {
      const usage = { input_tokens: inputTokens, output_tokens: 1 };
      send('message_start', { message: { ...head, content: [], ...open, usage } });
      send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
      send('ping');
    },
    word: (text) => send('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ended: ({ usage }) => {
      send('content_block_stop', { index: 0 });
      send('message_delta', { delta: end, usage: { output_tokens: usage.outputTokens } });
      send('message_stop');
    },
    event: (data) => exchange.sendEvent(data, 'content_block_delta'),
    failed: (body) => exchange.sendEvent(body, 'error'),
  };
}

/** Anthropic's messages, whole or as a stream of named events. */
export const anthropicMessages: Route = {
  method: 'POST',
  path: '/v1/messages',
  async handle(exchange, context, dialect) {
    const { json, bytes } = await readJson(exchange.request, dialect.maxBytes);
    if (exchange.header('anthropic-version') === undefined) {
      throw new Problem(400, 'anthropic-version: header is required');
    }
    const message = readMessages(json, context.models);
    const { inputTokens, maxTokens, prompt, stream } = message;
    const output = writeOutput(context.provider.seed, prompt, maxTokens, context.output);
    const format = messageFormat(exchange, message, output);
    const completion = { inputTokens, maxTokens, bytes, output };
    await complete(exchange, context, dialect, completion, format, stream);
  },
};
