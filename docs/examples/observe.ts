import { createLimiter } from 'headgate';
import OpenAI from 'openai';

const client = new OpenAI({ maxRetries: 0 });
const limiter = createLimiter();
const body = { model: 'gpt-5-mini', messages: [{ role: 'user' as const, content: 'Say hello.' }] };

const words = await limiter.run(async (context) => {
  const { signal } = context;
  const answer = await client.chat.completions.create(body, { signal }).withResponse();
  return context.observe(answer).data.choices[0]?.message.content;
});
console.log('It says:', words); // It says: …
