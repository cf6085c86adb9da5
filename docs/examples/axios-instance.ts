import axios from 'axios';
import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 20 });
const api = axios.create({
  baseURL: process.env.MODEL_API ?? 'https://api.openai.com/v1',
  headers: { authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
  adapter: 'fetch',
  env: { fetch: limiter.fetch },
});

const messages = [{ role: 'user', content: 'Say hello.' }];
const { status } = await api.post('/chat/completions', { model: 'gpt-5-mini', messages });
console.log(status, limiter.snapshot().ended.ok); // 200 1
