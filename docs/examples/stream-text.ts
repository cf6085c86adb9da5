import Anthropic from '@anthropic-ai/sdk';
import { createLimiter } from 'headgate';

const client = new Anthropic({ maxRetries: 0 });
const limiter = createLimiter();
const body = {
  model: 'claude-haiku-4-5',
  max_tokens: 100,
  stream: true as const,
  messages: [{ role: 'user' as const, content: 'Say hello.' }],
};

const words = await limiter.run(async ({ signal, observe }) => {
  const answer = observe(await client.messages.create(body, { signal }).withResponse());
  let text = '';
  for await (const event of answer.data) {
    observe(event); // its tokens
    const delta = event.type === 'content_block_delta' ? event.delta : undefined;
    if (delta?.type === 'text_delta') text += delta.text;
  }
  return text;
});
console.log('It says:', words); // It says: …
