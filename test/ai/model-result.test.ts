import { paced } from 'headgate/ai';
import { expect, it } from 'vitest';
import { createLimiter } from '../../src/index.ts';
import { expectIdle } from '../limiter/harness.ts';

// The usage as the providers for version 5 of the SDK give it.

const openai = {
  provider: 'openai.chat',
  answer: {
    usage: { inputTokens: 80, outputTokens: 20, totalTokens: 100, cachedInputTokens: 50 },
    providerMetadata: { openai: {} },
  },
  used: { inputTokens: 30, cachedTokens: 50, outputTokens: 20, tokens: 100 },
};
const anthropic = {
  provider: 'anthropic.messages',
  answer: {
    usage: { inputTokens: 30, outputTokens: 20, totalTokens: 50, cachedInputTokens: 50 },
    providerMetadata: { anthropic: { cacheCreationInputTokens: 7 } },
  },
  used: { inputTokens: 37, cachedTokens: 50, outputTokens: 20, tokens: 57 },
};
const bedrock = {
  provider: 'amazon-bedrock',
  answer: {
    usage: { inputTokens: 30, outputTokens: 20, totalTokens: 50, cachedInputTokens: 10 },
    providerMetadata: { bedrock: { usage: { cacheWriteInputTokens: 7 } } },
  },
  used: { inputTokens: 37, cachedTokens: 10, outputTokens: 20, tokens: 57 },
};
const google = {
  provider: 'google.generative-ai',
  answer: {
    usage: { inputTokens: 80, outputTokens: 20, totalTokens: 140, reasoningTokens: 40 },
    providerMetadata: { google: {} },
  },
  used: { inputTokens: 80, cachedTokens: 0, outputTokens: 60, tokens: 140 },
};
const cases = [
  ['OpenAI', openai],
  ['Anthropic', anthropic],
  ['Anthropic behind a gateway', { ...anthropic, provider: 'gateway' }],
  ['Bedrock', bedrock],
  [
    'Bedrock, without metadata',
    {
      ...bedrock,
      answer: { usage: bedrock.answer.usage },
      used: { ...bedrock.used, inputTokens: 30, tokens: 50 },
    },
  ],
  ['Google', google],
] as const;

it.each(cases)('charges what %s says in version 5', async (_name, { provider, answer, used }) => {
  const minute = { limit: 1_000, windowMs: 60_000, charge: 'settle' } as const;
  const limits = { inputTokens: minute, cachedTokens: minute, outputTokens: minute };
  const limiter = createLimiter({ limits, tokensPerMinute: 1_000 });
  const costs = { inputTokens: 1, cachedTokens: 1, outputTokens: 1 };
  const { wrapGenerate, wrapStream } = paced(limiter, { costs });
  const stream = () =>
    new ReadableStream({
      start: (controller) => {
        controller.enqueue({ type: 'text-delta', delta: 'Hello.' });
        controller.enqueue({ type: 'finish', ...answer });
        controller.close();
      },
    });
  const model = {
    provider,
    modelId: 'm',
    doGenerate: async () => answer,
    doStream: async () => ({ stream: stream() }),
  };
  const call = { params: { prompt: 'x' }, model };
  const charged = () => {
    const { rateLimit = {}, tokensUsed } = limiter.snapshot();
    const { inputTokens, cachedTokens, outputTokens } = rateLimit;
    const named = { inputTokens, cachedTokens, outputTokens };
    const amounts = Object.entries(named).map(([name, limit]) => [name, limit?.used]);
    return { ...Object.fromEntries(amounts), tokens: tokensUsed };
  };

  await wrapGenerate(call);
  expect(charged()).toEqual(used);
  for await (const _part of (await wrapStream(call)).stream);
  const twice = Object.entries(used).map(([name, amount]) => [name, 2 * amount]);
  expect(charged()).toEqual(Object.fromEntries(twice));
  expectIdle(limiter);
  limiter.close();
});
