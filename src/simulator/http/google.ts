import type { ProviderAnswer } from '../provider-types.ts';
import { type CompletionFormat, complete } from './completion.ts';
import type { Dialect, Route } from './dialect.ts';
import type { Exchange } from './exchange.ts';
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
const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function errorBody(code: number, message: string, details?: readonly unknown[]) {
  const status = STATUSES[code] ?? 'INTERNAL';
  return { error: { code, message, status, ...(details && { details }) } };
}

/** The wait, in the format of `google.rpc.RetryInfo`. */
function retryInfo({ retryAfterMs }: ProviderAnswer): readonly unknown[] | undefined {
  if (retryAfterMs === undefined) return undefined;
  const retryDelay = `${Math.ceil(retryAfterMs) / 1000}s`;
  return [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
}

/** Keys and errors as in the Gemini API. No header reports its limits. */
export const googleDialect: Dialect = {
  maxBytes: 20 * MIB,
  apiKey: (exchange) => exchange.header('x-goog-api-key') ?? exchange.bearer(),
  headers: () => ({}),
  limitHeaders: () => ({}),
  problem: ({ status, message }) => ({ status, headers: {}, body: errorBody(status, message) }),
  refusal: (answer) => {
    const { status, message = '' } = answer;
    return { status, headers: {}, body: errorBody(status, message, retryInfo(answer)) };
  },
};

function countContents(body: Readonly<Record<string, unknown>>): number {
  return requireList(body, 'contents').reduce<number>((sum, content, index) => {
    if (!isObject(content) || !Array.isArray(content.parts)) {
      throw invalidField(`contents[${index}].parts`, 'a list of parts is required');
    }
    return sum + countTokens(content.parts);
  }, 0);
}

function contentFormat(
  exchange: Exchange,
  model: string,
  inputTokens: number,
  output: ModelOutput,
): CompletionFormat {
  const finishReason = output.cut ? 'MAX_TOKENS' : 'STOP';
  const usageMetadata = (outputTokens: number) => ({
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
  });
  const said = (text: string, outputTokens: number, end?: string) => ({
    candidates: [
      {
        content: { role: 'model', parts: [{ text }] },
        index: 0,
        ...(end && { finishReason: end }),
      },
    ],
    usageMetadata: usageMetadata(outputTokens),
    modelVersion: model,
    responseId: exchange.id,
  });
  let words = 0;
  return {
    whole: ({ usage }) => said(output.words.join(''), usage.outputTokens, finishReason),
    started: () => undefined,
    word: (text) => {
      words += 1;
      exchange.sendEvent(said(text, words));
    },
    ended: ({ usage }) => exchange.sendEvent(said('', usage.outputTokens, finishReason)),
    event: (data) => exchange.sendEvent(data),
    failed: (body) => exchange.sendEvent(body),
  };
}

/** Google's Gemini API: content, whole or as a stream of server-sent events. */
export const googleContent: Route = {
  method: 'POST',
  path: '/v1beta/models/*:generateContent',
  alias: PATH,
  async handle(exchange, context, dialect) {
    const [, model = '', verb] = PATH.exec(exchange.path) ?? [];
    const { json, bytes } = await readJson(exchange.request, dialect.maxBytes);
    if (context.models !== undefined && !context.models.includes(model)) {
      throw new Problem(404, `models/${model} is not found`, { code: 'model_not_found' });
    }
    const { systemInstruction, contents } = json;
    const inputTokens = countContents(json) + countTokens(partsOf(systemInstruction));
    const settings = optionalObject(json, 'generationConfig');
    const maxTokens = optionalCount(settings, 'maxOutputTokens', MOST_TOKENS) ?? MOST_TOKENS;
    const prompt = JSON.stringify([model, systemInstruction, contents]);
    const output = writeOutput(context.provider.seed, prompt, maxTokens, context.output);
    const format = contentFormat(exchange, model, inputTokens, output);
    const completion = { inputTokens, maxTokens, bytes, output };
    await complete(exchange, context, dialect, completion, format, verb !== 'generateContent');
  },
};

function partsOf(content: unknown): unknown {
  return isObject(content) ? content.parts : undefined;
}
