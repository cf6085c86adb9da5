import { type CompletionFormat, complete } from './completion.ts';
import type { Dialect, Route } from './dialect.ts';
import {
  invalidField,
  isObject,
  optionalCount,
  optionalObject,
  Problem,
  readJson,
  requireList,
} from './request-body.ts';
import { countTokens, type ModelOutput, writeOutput } from './text.ts';

const MIB = 1024 * 1024;
const MOST_TOKENS = 1_000_000;
const PATH = /^\/model\/([^/]+)\/converse$/;

const NAMES: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
};

function errorReply(status: number, message: string) {
  const name = NAMES[status] ?? 'InternalServerException';
  return { status, headers: { 'x-amzn-errortype': name }, body: { message } };
}

/** Keys and errors as in Bedrock's API reference. Answers report neither limits nor waits. */
export const bedrockDialect: Dialect = {
  maxBytes: 25 * MIB,
  // A signature contains the id of its key.
  apiKey: (exchange) =>
    exchange.bearer() ?? /Credential=([^/]+)/.exec(exchange.header('authorization') ?? '')?.[1],
  headers: (exchange) => ({ 'x-amzn-requestid': exchange.id }),
  limitHeaders: () => ({}),
  problem: ({ status, message }) => errorReply(status, message),
  refusal: ({ status, message = '' }) => errorReply(status, message),
};

function countMessages(body: Readonly<Record<string, unknown>>): number {
  return requireList(body, 'messages').reduce<number>((sum, message, index) => {
    if (!isObject(message) || !Array.isArray(message.content)) {
      throw invalidField(`messages.${index}.content`, 'a list of blocks is required');
    }
    return sum + countTokens(message.content);
  }, 0);
}

/** Answers are sent whole: streams of Bedrock are binary. */
function converseFormat(output: ModelOutput): CompletionFormat {
  const nothing = () => undefined;
  return {
    whole: ({ usage: { inputTokens, outputTokens }, latencyMs }) => ({
      output: { message: { role: 'assistant', content: [{ text: output.words.join('') }] } },
      stopReason: output.cut ? 'max_tokens' : 'end_turn',
      usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
      metrics: { latencyMs: Math.round(latencyMs) },
    }),
    started: nothing,
    word: nothing,
    ended: nothing,
    event: nothing,
    failed: nothing,
  };
}

/** Amazon Bedrock's Converse. */
export const bedrockConverse: Route = {
  method: 'POST',
  path: '/model/*/converse',
  alias: PATH,
  async handle(exchange, context, dialect) {
    const model = decodeURIComponent(PATH.exec(exchange.path)?.[1] ?? '');
    const { json, bytes } = await readJson(exchange.request, dialect.maxBytes);
    if (context.models !== undefined && !context.models.includes(model)) {
      throw new Problem(404, `The model ${model} is not known.`, { code: 'model_not_found' });
    }
    const { system, messages } = json;
    const inputTokens = countMessages(json) + countTokens(system);
    const settings = optionalObject(json, 'inferenceConfig');
    const maxTokens = optionalCount(settings, 'maxTokens', MOST_TOKENS) ?? MOST_TOKENS;
    const prompt = JSON.stringify([model, system, messages]);
    const output = writeOutput(context.provider.seed, prompt, maxTokens, context.output);
    const completion = { inputTokens, maxTokens, bytes, output };
    await complete(exchange, context, dialect, completion, converseFormat(output), false);
  },
};
