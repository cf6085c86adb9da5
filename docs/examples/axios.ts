import axios from 'axios';
import { createLimiter } from 'headgate';

const api = axios.create({
  baseURL: process.env.MODEL_API ?? 'https://api.openai.com/v1',
  headers: { authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
});
const limiter = createLimiter({ concurrency: 20, tokensPerMinute: 200_000 });

async function ask(content: string): Promise<string> {
  const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content }] };
  const { data } = await limiter.run(({ signal }) =>
    api.post('/chat/completions', body, { signal }),
  );
  return data.choices[0].message.content;
}

console.log('It says:', await ask('Say hello.')); // It says: …
