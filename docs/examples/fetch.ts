import { createLimiter } from 'headgate';
import OpenAI from 'openai';

const limiter = createLimiter({ concurrency: 20 });
const client = new OpenAI({ fetch: limiter.fetch, maxRetries: 0, timeout: 3_600_000 });

const chunks = await client.chat.completions.create({
  model: 'gpt-5-mini',
  stream: true,
  messages: [{ role: 'user', content: 'Say hello.' }],
});
for await (const chunk of chunks) console.log(chunk.choices[0]?.delta.content ?? '');
console.log(limiter.snapshot().ended.ok, limiter.snapshot().concurrency.inFlight); // 1 0
