import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText } from 'ai';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import type { AttemptContext } from '../../src/index.ts';
import type { ReportedLimit } from '../../src/model/feedback.ts';
import { start } from './rig.ts';

const messages = [{ role: 'user' as const, content: 'hello' }];
const body = { model: 'm', max_tokens: 8, messages };

/** One request, as users send it. */
type Ask = (
  url: string,
  context: AttemptContext,
  fetch: typeof globalThis.fetch,
) => Promise<unknown>;

const openaiOf = (url: string, fetch = globalThis.fetch) =>
  new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0, fetch });
const anthropicOf = (baseURL: string) => new Anthropic({ apiKey: 'key', baseURL, maxRetries: 0 });

/**
 * Sends one request. @returns what was read: the limit on requests, and the tokens that were used
 */
async function readOf(ask: Ask) {
  const told: (readonly ReportedLimit[] | undefined)[] = [];
  await using rig = await start(
    { limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 600, windowMs: 60_000 }] },
    undefined,
    {
      adaptive: 'rate',
      tokensPerMinute: 1e6,
      instrumentation: { attemptEnded: ({ verdict }) => void told.push(verdict?.limits) },
    },
  );
  const { limiter, server } = rig;
  await limiter.run((context) => ask(server.url, context, limiter.fetch), { tokens: 0 });
  const requests = told.flat().find((limit) => limit?.unit === 'requests');
  return { limit: requests?.limit, tokens: limiter.snapshot().tokensUsed };
}

it.each<[string, Ask]>([
  [
    'openai, by withResponse()',
    async (url, context) => {
      const answer = await openaiOf(url).chat.completions.create(body).withResponse();
      return context.observe(answer).data.choices[0]?.message.content;
    },
  ],
  [
    'openai, by what withResponse() gives as the result',
    (url) => openaiOf(url).chat.completions.create(body).withResponse(),
  ],
  [
    '@anthropic-ai/sdk, by withResponse()',
    async (url, context) => {
      const answer = await anthropicOf(url).messages.create(body).withResponse();
      return context.observe(answer).data.content;
    },
  ],
  [
    'ai, by its result',
    async (url, context) => {
      const model = createOpenAI({ apiKey: 'key', baseURL: `${url}/v1` }).chat('m');
      const call = { model, prompt: 'hello', maxOutputTokens: 8, maxRetries: 0 };
      return context.observe(await generateText(call)).text;
    },
  ],
])('reads limits and usage of %s', async (_, ask) => {
  const { limit, tokens } = await readOf(ask);
  expect(limit).toBe(600);
  expect(tokens).toBeGreaterThan(0);
});

it('reads the usage alone of what an SDK hands out by itself', async () => {
  const { limit, tokens } = await readOf((url) => openaiOf(url).chat.completions.create(body));
  expect(limit).toBeUndefined();
  expect(tokens).toBeGreaterThan(0);
});

it('reads the limits of an SDK that is given the fetch of a limiter', async () => {
  const { limit } = await readOf((url, _, fetch) =>
    openaiOf(url, fetch).chat.completions.create(body),
  );
  expect(limit).toBe(600);
});
