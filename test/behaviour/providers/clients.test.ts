import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { embed, generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../../src/providers/classify.ts';
import { headersOfResult } from '../../../src/providers/result.ts';
import { usageOf } from '../../../src/providers/usage.ts';

/** The real clients, with a `fetch` that answers in the place of a provider. */
const answering = (status: number, body: unknown, headers: Record<string, string>) => ({
  apiKey: 'x',
  maxRetries: 0,
  fetch: async () => Response.json(body, { status, headers }),
});

const OPENAI_HEADERS = {
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '59',
  'x-ratelimit-reset-requests': '1s',
};
const LIMITS = [{ unit: 'requests', limit: 60, remaining: 59, resetMs: 1000, windowMs: 60_000 }];

const CHAT = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
};
const QUOTA = { error: { message: 'x', type: 'insufficient_quota', code: 'insufficient_quota' } };
const LIMITED = {
  error: {
    message: 'Rate limit reached for m on tokens per min (TPM): Limit 1. Please try again in 1.2s.',
    type: 'tokens',
    code: 'rate_limit_exceeded',
  },
};

async function failureOf(call: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('it went well');
}

const final = { kind: 'fatal', retry: false, outage: 'quota', status: 429 };
const waits = { kind: 'throttled', limit: 'tokens', retryAfterMs: 1200, limits: LIMITS };
const messages = [{ role: 'user' as const, content: 'hello' }];

describe('the SDK of OpenAI', () => {
  const ask = (status: number, body: unknown) =>
    new OpenAI(answering(status, body, OPENAI_HEADERS)).chat.completions.create({
      model: 'm',
      messages,
    });

  it('hands out headers with its response, and usage with its data', async () => {
    const result = await ask(200, CHAT).withResponse();
    expect(reportedLimits(headersOfResult(result))).toEqual(LIMITS);
    expect(usageOf(result)).toEqual({ tokens: 12, inputTokens: 9, outputTokens: 3 });
    expect(usageOf(result.data)).toEqual({ tokens: 12, inputTokens: 9, outputTokens: 3 });
    expect(headersOfResult(result.data)).toBeUndefined();
  });

  it('throws what is read', async () => {
    expect(classify(await failureOf(() => ask(429, QUOTA)))).toMatchObject(final);
    expect(classify(await failureOf(() => ask(429, LIMITED)))).toMatchObject(waits);
  });
});

describe('the SDK of Anthropic', () => {
  const ask = (status: number, body: unknown, headers: Record<string, string>) =>
    new Anthropic(answering(status, body, headers)).messages.create({
      model: 'm',
      max_tokens: 5,
      messages,
    });
  const headers = {
    'anthropic-ratelimit-requests-limit': '50',
    'anthropic-ratelimit-requests-remaining': '0',
  };

  it('hands out headers with its response, and usage with its data', async () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 4,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 5000,
    };
    const message = { id: 'm', type: 'message', role: 'assistant', content: [], usage };
    const result = await ask(200, message, headers).withResponse();
    expect(reportedLimits(headersOfResult(result))).toMatchObject([{ limit: 50, remaining: 0 }]);
    expect(usageOf(result)).toEqual({ tokens: 114, inputTokens: 110, outputTokens: 4 });
  });

  it('throws what is read', async () => {
    const body = { type: 'error', error: { type: 'rate_limit_error', message: 'x' } };
    const thrown = await failureOf(() => ask(429, body, { ...headers, 'retry-after': '7' }));
    const verdict = { kind: 'throttled', limit: 'requests', retryAfterMs: 7000 };
    expect(classify(thrown)).toMatchObject(verdict);
  });
});

describe('the AI SDK', () => {
  const model = (status: number, body: unknown) =>
    createOpenAI(answering(status, body, OPENAI_HEADERS)).chat('gpt-4o');
  const ask = (status: number, body: unknown, maxRetries = 0) =>
    generateText({ model: model(status, body), prompt: 'hello', maxRetries });

  it('hands out headers with its response, and usage', async () => {
    const result = await ask(200, CHAT);
    expect(reportedLimits(headersOfResult(result))).toEqual(LIMITS);
    expect(usageOf(result)).toEqual({ tokens: 12, inputTokens: 9, outputTokens: 3 });
  });

  it('throws what is read', async () => {
    expect(classify(await failureOf(() => ask(429, QUOTA)))).toMatchObject(final);
    expect(classify(await failureOf(() => ask(429, LIMITED)))).toMatchObject(waits);
    // With retries of its own the answer is inside another error.
    const retried = await failureOf(() => ask(429, { ...LIMITED }, 1));
    expect(retried).toMatchObject({ name: 'AI_RetryError' });
    expect(classify(retried)).toMatchObject(waits);
  });

  it('keeps its streams, which reading would consume', async () => {
    const chat = createOpenAI(answering(429, QUOTA, {})).chat('gpt-4o');
    const result = streamText({ model: chat, prompt: 'hello', maxRetries: 0, onError: () => {} });
    // Reading what it will have used would end in a rejection that nobody handles.
    expect(usageOf(result)).toBeUndefined();
    expect(headersOfResult(result)).toBeUndefined();
    const parts: string[] = [];
    for await (const part of result.textStream) parts.push(part);
    expect(parts).toEqual([]);
  });

  it('counts what an embedding used', async () => {
    const body = {
      data: [{ embedding: [1], index: 0, object: 'embedding' }],
      model: 'm',
      usage: { prompt_tokens: 5, total_tokens: 5 },
    };
    const embedding = createOpenAI(answering(200, body, {})).textEmbeddingModel('m');
    const result = await embed({ model: embedding, value: 'x' });
    expect(usageOf(result)).toEqual({ tokens: 5 });
  });
});

describe('usage', () => {
  it.each([
    ['OpenAI chat', { usage: CHAT.usage }, 12, 9, 3],
    [
      'OpenAI responses',
      {
        usage: {
          input_tokens: 7,
          input_tokens_details: { cached_tokens: 2 },
          output_tokens: 5,
          total_tokens: 12,
        },
      },
      12,
      7,
      5,
    ],
    ['OpenAI embeddings', { usage: { prompt_tokens: 8, total_tokens: 8 } }, 8, 8, undefined],
    ['Bedrock', { usage: { inputTokens: 30, outputTokens: 12, totalTokens: 42 } }, 42, 30, 12],
    [
      'Google',
      {
        usageMetadata: {
          promptTokenCount: 10,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 6,
          totalTokenCount: 20,
        },
      },
      20,
      10,
      10,
    ],
    ['axios', { data: { usage: CHAT.usage }, headers: {} }, 12, 9, 3],
    ['Cohere', { usage: { tokens: { input_tokens: 12, output_tokens: 3 } } }, 15, 12, 3],
    ["Cohere's embeddings", { meta: { billed_units: { input_tokens: 12 } } }, 12, 12, undefined],
    ["Cohere's SDK", { meta: { billedUnits: { inputTokens: 12 } } }, 12, 12, undefined],
    ['Ollama', { done: true, prompt_eval_count: 12, eval_count: 3 }, 15, 12, 3],
    ["Ollama's embeddings", { embeddings: [], prompt_eval_count: 12 }, 12, 12, undefined],
    ['a total alone', { usage: { total_tokens: 3 } }, 3, undefined, undefined],
  ])('of %s', (_, value, tokens, inputTokens, outputTokens) => {
    expect(usageOf(value)).toEqual({
      tokens,
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    });
  });

  it.each([
    undefined,
    null,
    'usage',
    12,
    {},
    { usage: null },
    { usage: {} },
    { usage: { total_tokens: 'many' } },
    { usage: { input_tokens: -1 } },
    { usage: { output_tokens: Number.NaN } },
    { usage: { total_tokens: 1e300 } },
    { usage: 5 },
    () => 5,
  ])('of %j is none', (value) => {
    expect(usageOf(value)).toBeUndefined();
  });
});

describe('the headers of a result', () => {
  it('are where clients put them', () => {
    const headers = new Headers(OPENAI_HEADERS);
    const response = new Response('x', { headers });
    expect(headersOfResult(response)).toBe(response.headers);
    expect(headersOfResult({ data: {}, response })).toBe(response.headers);
    expect(headersOfResult({ text: 'x', response: { headers: OPENAI_HEADERS } })).toBe(
      OPENAI_HEADERS,
    );
    expect(headersOfResult({ data: {}, status: 200, headers: OPENAI_HEADERS })).toBe(
      OPENAI_HEADERS,
    );
  });

  it.each([
    undefined,
    null,
    'x',
    5,
    true,
    {},
    [],
    { headers: null },
    { headers: ['a'] },
    { response: 'x' },
  ])('are none of %j', (value) => {
    expect(headersOfResult(value)).toBeUndefined();
  });
});
