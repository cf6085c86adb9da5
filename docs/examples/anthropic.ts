import Anthropic from '@anthropic-ai/sdk';
import { createLimiter } from 'headgate';

const client = new Anthropic({ maxRetries: 0 });
const limiter = createLimiter({
  limits: {
    requests: { limit: 1_000, windowMs: 60_000, algorithm: 'token-bucket' },
    outputTokens: { limit: 80_000, windowMs: 60_000, algorithm: 'token-bucket', charge: 'settle' },
  },
});

const MAX_TOKENS = 200;
const answer = await limiter.run(
  async (context) => {
    const message = await client.messages.create(
      {
        model: 'claude-haiku-4-5',
        max_tokens: MAX_TOKENS,
        messages: [{ role: 'user', content: 'Say hello.' }],
      },
      { signal: context.signal },
    );
    context.record('outputTokens', message.usage.output_tokens);
    return message;
  },
  { costs: { outputTokens: MAX_TOKENS } },
);
console.log(answer.role); // assistant
