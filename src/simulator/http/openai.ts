import { openAiHeaders } from '../answer-headers.ts';
import type { ProviderAnswer } from '../provider-types.ts';
import { type CompletionFormat, complete } from './completion.ts';
import type { Dialect, Route, RouteContext } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import {
  invalidField,
  isObject,
  type JsonObject,
  optionalCount,
  optionalFlag,
  optionalObject,
  Problem,
  readJson,
  requireList,
  requireText,
} from './request-body.ts';
import { countTokens, type ModelOutput, writeOutput } from './text.ts';

const MIB = 1024 * 1024;

function errorBody(message: string, type: string, param: string | null, code: string | null) {
  return { error: { message, type, param, code } };
}

/** The `type` of an error. For a 429 it is the unit whose limit was reached. */
function errorType(answer: ProviderAnswer): string {
  if (answer.code === 'insufficient_quota') return 'insufficient_quota';
  if (answer.status === 429) {
    const limit = answer.limits.find(({ name }) => name === answer.limit);
    return limit === undefined || limit.unit === 'requests' ? 'requests' : 'tokens';
  }
  return answer.status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** Keys, headers and errors as in OpenAI's API reference. */
export const openAiDialect: Dialect = {
  maxBytes: 64 * MIB,
  apiKey: (exchange) => exchange.bearer() ?? exchange.header('api-key'),
  headers: (exchange) => ({ 'x-request-id': `req_${exchange.id}` }),
  limitHeaders: (limits) => openAiHeaders({ limits }),
  problem: ({ status, message, param, code }) => ({
    status,
    headers: {},
    body: errorBody(
      message,
      status >= 500 ? 'server_error' : 'invalid_request_error',
      param ?? null,
      code ?? null,
    ),
  }),
  refusal: (answer) => {
    const code = answer.status < 500 ? (answer.code ?? null) : null;
    const { retryAfterMs } = answer;
    return {
      status: answer.status,
      headers: openAiHeaders({
        limits: [],
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      }),
      body: errorBody(answer.message ?? '', errorType(answer), null, code),
    };
  },
};

/** The most tokens of an answer if the request does not set them. */
const DEFAULT_MAX_TOKENS = 4096;
const MOST_TOKENS = 1_000_000;

/** Tokens that the roles and delimiters of one message take. */
const TOKENS_PER_MESSAGE = 4;

interface ChatRequest {
  readonly model: string;
  readonly prompt: string;
  readonly inputTokens: number;
  readonly maxTokens: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

function readMessages(body: JsonObject): number {
  return requireList(body, 'messages').reduce<number>((sum, message, index) => {
    const fields: JsonObject = isObject(message) ? message : {};
    const { role, content } = fields;
    if (typeof role !== 'string') {
      throw invalidField(`messages[${index}].role`, 'a string is required');
    }
    const empty = content === undefined || content === null;
    if (!empty && typeof content !== 'string' && !Array.isArray(content)) {
      throw invalidField(`messages[${index}].content`, 'a string or a list of parts is required');
    }
    return sum + TOKENS_PER_MESSAGE + countTokens(content);
  }, 0);
}

function readChat(body: JsonObject, models: readonly string[] | undefined): ChatRequest {
  const model = requireText(body, 'model');
  if (models !== undefined && !models.includes(model)) {
    const message = `The model \`${model}\` does not exist.`;
    throw new Problem(404, message, { code: 'model_not_found' });
  }
  const inputTokens = readMessages(body);
  const maxTokens =
    optionalCount(body, 'max_completion_tokens', MOST_TOKENS) ??
    optionalCount(body, 'max_tokens', MOST_TOKENS) ??
    DEFAULT_MAX_TOKENS;
  if ((optionalCount(body, 'n', 128) ?? 1) > 1) {
    throw invalidField('n', 'this simulator makes one choice only');
  }
  const stream = optionalFlag(body, 'stream');
  const includeUsage = optionalFlag(optionalObject(body, 'stream_options'), 'include_usage');
  const { messages } = body;
  const prompt = JSON.stringify([model, messages]);
  return { model, prompt, inputTokens, maxTokens, stream, includeUsage };
}

function usageOf({ usage }: ProviderAnswer) {
  const { inputTokens, outputTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function chatFormat(
  exchange: Exchange,
  chat: ChatRequest,
  output: ModelOutput,
  wallMs: number,
): CompletionFormat {
  const head = {
    id: `chatcmpl-${exchange.id}`,
    created: Math.floor(wallMs / 1000),
    model: chat.model,
  };
  const finish = output.cut ? 'length' : 'stop';
  const sendChunk = (delta: unknown, finish_reason: string | null) =>
    exchange.sendEvent({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(chat.includeUsage ? { usage: null } : {}),
    });
  return {
    whole: (answer) => {
      const message = { role: 'assistant', content: output.words.join(''), refusal: null };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
      return { ...head, object: 'chat.completion', choices, usage: usageOf(answer) };
    },
    started: () => sendChunk({ role: 'assistant', content: '' }, null),
    word: (content) => sendChunk({ content }, null),
    ended: (answer) => {
      sendChunk({}, finish);
      if (chat.includeUsage) {
        const usage = usageOf(answer);
        exchange.sendEvent({ ...head, object: 'chat.completion.chunk', choices: [], usage });
      }
      exchange.sendEvent('[DONE]');
    },
    event: (data) => exchange.sendEvent(data),
    failed: (body) => exchange.sendEvent(body),
  };
}

/** OpenAI's chat completions, whole or as a stream of chunks. */
export const openAiChat: Route = {
  method: 'POST',
  path: '/v1/chat/completions',
  // Azure's deployments, Google's compatible endpoint, servers behind a prefix.
  alias: /\/chat\/completions$/,
  async handle(exchange, context: RouteContext, dialect) {
    const { json, bytes } = await readJson(exchange.request, dialect.maxBytes);
    const chat = readChat(json, context.models);
    const { inputTokens, maxTokens, prompt, stream } = chat;
    const output = writeOutput(context.provider.seed, prompt, maxTokens, context.output);
    const format = chatFormat(exchange, chat, output, context.wallNow());
    const completion = { inputTokens, maxTokens, bytes, output };
    await complete(exchange, context, dialect, completion, format, stream);
  },
};
