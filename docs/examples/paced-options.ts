import { openai } from '@ai-sdk/openai';
import { generateText, wrapLanguageModel } from 'ai';
import { createLimiter } from 'headgate';
import { paced } from 'headgate/ai';

const minute = { windowMs: 60_000, charge: 'settle' } as const;
const limiter = createLimiter({
  requestsPerMinute: 1_000,
  limits: { outputTokens: { ...minute, limit: 80_000 } },
});

// One number for all calls, or a function of the parameters of each.
const middleware = paced(limiter, ({ maxOutputTokens = 1_000, providerOptions }) => ({
  costs: { outputTokens: maxOutputTokens },
  priority: providerOptions?.headgate?.urgent ? 1 : 0,
}));
const model = wrapLanguageModel({ model: openai.chat('gpt-5-mini'), middleware });

const { usage } = await generateText({
  model,
  prompt: 'Say hello.',
  maxOutputTokens: 200,
  maxRetries: 0,
  providerOptions: { headgate: { urgent: true } },
});
const { outputTokens } = limiter.snapshot().rateLimit ?? {};
console.log(outputTokens?.used === usage.outputTokens); // true
