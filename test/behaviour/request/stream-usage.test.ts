import fc from 'fast-check';
import { from, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type AttemptContext, createLimiter } from '../../../src/index.ts';

/** What a stream reports, event by event, and its tokens: all, input, from a cache, output. */
const STREAMS: Record<string, { events: readonly object[]; tokens: readonly number[] }> = {
  'Google: each chunk counts all so far': {
    events: [1, 400, 800].map((candidatesTokenCount) => ({
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount,
        totalTokenCount: 10 + candidatesTokenCount,
        cachedContentTokenCount: 4,
      },
    })),
    tokens: [810, 6, 4, 800],
  },
  'vLLM: each chunk counts all so far': {
    events: [0, 1, 50].map((completion_tokens) => ({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens, total_tokens: 7 + completion_tokens },
    })),
    tokens: [57, 7, 0, 50],
  },
  'OpenAI: the last chunk counts': {
    events: [
      { choices: [{ delta: { content: 'a' } }], usage: null },
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
    ],
    tokens: [10, 7, 0, 3],
  },
  'Anthropic: input comes first, output last': {
    events: [
      {
        type: 'message_start',
        message: { usage: { input_tokens: 5_000, cache_read_input_tokens: 20, output_tokens: 1 } },
      },
      { type: 'content_block_delta', delta: { text: 'a' } },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 100 } },
      { type: 'message_stop' },
    ],
    tokens: [5_100, 5_000, 20, 100],
  },
  'Anthropic: the last event repeats the input': {
    events: [
      { type: 'message_start', message: { usage: { input_tokens: 50, output_tokens: 1 } } },
      { type: 'message_delta', usage: { input_tokens: 50, output_tokens: 9 } },
    ],
    tokens: [59, 50, 0, 9],
  },
  'OpenAI Responses: the last event has the response': {
    events: [
      { type: 'response.created', response: { usage: null } },
      { type: 'response.completed', response: { usage: { input_tokens: 8, output_tokens: 4 } } },
    ],
    tokens: [12, 8, 0, 4],
  },
  'Bedrock: the last event has metadata': {
    events: [
      { contentBlockDelta: { delta: { text: 'a' } } },
      { metadata: { usage: { inputTokens: 50, outputTokens: 7, totalTokens: 57 } } },
    ],
    tokens: [57, 50, 0, 7],
  },
  'Cohere: the last event has the usage in its delta': {
    events: [
      { type: 'content-delta', delta: { message: { content: { text: 'a' } } } },
      {
        type: 'message-end',
        delta: {
          finishReason: 'COMPLETE',
          usage: { billedUnits: { inputTokens: 40 }, tokens: { inputTokens: 50, outputTokens: 7 } },
        },
      },
    ],
    tokens: [57, 50, 0, 7],
  },
  'Groq: the last chunk has the usage in x_groq': {
    events: [
      { choices: [{ delta: { content: 'a' } }], x_groq: { id: 'r' } },
      {
        choices: [{ delta: {}, finish_reason: 'stop' }],
        x_groq: {
          id: 'r',
          usage: { prompt_tokens: 50, completion_tokens: 7, total_tokens: 57 },
        },
      },
    ],
    tokens: [57, 50, 0, 7],
  },
  'the AI SDK: the last part has the usage of all steps': {
    events: [
      { type: 'finish-step', usage: { inputTokens: 50, outputTokens: 7, totalTokens: 57 } },
      { type: 'finish-step', usage: { inputTokens: 60, outputTokens: 9, totalTokens: 69 } },
      {
        type: 'finish',
        totalUsage: {
          inputTokens: 110,
          outputTokens: 16,
          totalTokens: 126,
          cachedInputTokens: 30,
        },
      },
    ],
    tokens: [126, 80, 30, 16],
  },
};

/** What one value reports, and its tokens, as above. */
const VALUES: Record<string, { value: object; tokens: readonly number[] }> = {
  'the SDK of Mistral': {
    value: { usage: { promptTokens: 50, completionTokens: 7, totalTokens: 57 } },
    tokens: [57, 50, 0, 7],
  },
  'Bedrock, with a cache': {
    value: {
      usage: {
        inputTokens: 50,
        outputTokens: 7,
        totalTokens: 107,
        cacheReadInputTokens: 40,
        cacheWriteInputTokens: 10,
      },
    },
    tokens: [107, 60, 40, 7],
  },
  'Google, with tools and thinking': {
    value: {
      usageMetadata: {
        promptTokenCount: 50,
        toolUsePromptTokenCount: 20,
        candidatesTokenCount: 3,
        thoughtsTokenCount: 4,
        totalTokenCount: 77,
      },
    },
    tokens: [77, 70, 0, 7],
  },
  'the AI SDK, with several steps and a cache': {
    value: {
      usage: { inputTokens: 60, outputTokens: 9, totalTokens: 69 },
      totalUsage: {
        inputTokens: 110,
        inputTokenDetails: { noCacheTokens: 80, cacheReadTokens: 30 },
        outputTokens: 16,
        totalTokens: 126,
      },
    },
    tokens: [126, 80, 30, 16],
  },
  'got and superagent': {
    value: { body: { usage: { prompt_tokens: 50, completion_tokens: 7 } }, statusCode: 200 },
    tokens: [57, 50, 0, 7],
  },
  'embeddings of the AI SDK': {
    value: { embeddings: [[1]], usage: { tokens: 57 } },
    tokens: [57, 57, 0, 0],
  },
};

const PRICES = { inputTokens: 1_000, cachedTokens: 100, outputTokens: 1_000_000 };

/** What a stream of these events is charged: tokens, and money in millionths. */
async function charged(events: readonly object[], observe = false, record = 0) {
  const limiter = createLimiter({
    telemetry: false,
    tokensPerMinute: 1_000_000,
    costBudget: {
      maxCost: 1_000_000,
      windowMs: 3_600_000,
      inputPrice: PRICES.inputTokens,
      cachedPrice: PRICES.cachedTokens,
      outputPrice: PRICES.outputTokens,
    },
  });
  const project = (_: number, context: AttemptContext) => {
    if (record > 0) context.recordTokens(record);
    return observe ? from(events.map((event) => context.observe(event) && 1)) : from(events);
  };
  await lastValueFrom(of(0).pipe(limiter.throttle(project), toArray()));
  const { rateLimit, costBudget } = limiter.snapshot();
  return { tokens: rateLimit?.tokens?.used, cost: costBudget?.used };
}

async function expectCharged(events: readonly object[], tokens: readonly number[]) {
  const [all, input = 0, cached = 0, output = 0] = tokens;
  const cost =
    (input * PRICES.inputTokens + cached * PRICES.cachedTokens + output * PRICES.outputTokens) /
    1e6;
  for (const observe of [false, true]) {
    const seen = await charged(events, observe);
    expect(seen.tokens).toBe(all);
    expect(seen.cost).toBeCloseTo(cost, 6);
  }
}

it.each(Object.entries(VALUES))('an answer is charged what it reports: %s', async (_, answer) => {
  await expectCharged([answer.value], answer.tokens);
});

describe('a stream is charged what it reports', () => {
  it.each(Object.entries(STREAMS))('%s', async (_, { events, tokens }) => {
    await expectCharged(events, tokens);
  });

  it('in whatever pieces it is reported, where each counts all so far', async () => {
    const counts = fc.array(fc.nat({ max: 500 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(counts, fc.nat({ max: 500 }), async (steps, input) => {
        let output = 0;
        const events = steps.map((step) => {
          output += step;
          return { usage: { prompt_tokens: input, completion_tokens: output } };
        });
        expect((await charged(events)).tokens).toBe(input + output);
      }),
      { numRuns: 30 },
    );
  });

  it('unless the user has recorded its tokens', async () => {
    const { events } = STREAMS['Google: each chunk counts all so far'] as (typeof STREAMS)[string];
    expect((await charged(events, false, 33)).tokens).toBe(33);
    expect((await charged(events, true, 33)).tokens).toBe(33);
  });

  it('or its estimate, if it ends after the first event of Anthropic, which counts hardly any output', async () => {
    const event = {
      type: 'message_start',
      message: { usage: { input_tokens: 50, output_tokens: 1 } },
    };
    const ends = {
      cancelled: (gone: AbortController) => gone.abort(),
      broken: () => {
        throw Object.assign(new TypeError('terminated'), { code: 'ECONNRESET' });
      },
    };
    for (const [how, end] of Object.entries(ends)) {
      for (const [tokens, charged] of [
        [500, 500],
        [20, 51],
      ]) {
        const limiter = createLimiter({ tokensPerMinute: 1_000_000, maxAttempts: 1 });
        const gone = new AbortController();
        const call = limiter.run(
          async ({ observe }) => {
            observe(event);
            end(gone);
          },
          { tokens, signal: gone.signal },
        );
        await expect(call, how).rejects.toThrow();
        expect(limiter.snapshot().rateLimit?.tokens?.used, how).toBe(charged);
      }
    }
  });
});
