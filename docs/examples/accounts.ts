import { createLimiter } from 'headgate';
import OpenAI, { AzureOpenAI } from 'openai';

const [maxRetries, apiKey] = [0, process.env.GEMINI_API_KEY];
const google = 'https://generativelanguage.googleapis.com/v1beta/openai/';
const azure = new AzureOpenAI({ maxRetries, endpoint: 'https://mine.openai.azure.com' });
const gemini = new OpenAI({ maxRetries, apiKey, baseURL: google });
const own = new OpenAI({ maxRetries, apiKey: 'none', baseURL: 'https://vllm.example/v1' });

const accounts = [
  { client: azure, model: 'my-deployment', limiter: createLimiter({ requestsPerMinute: 600 }) },
  { client: gemini, model: 'gemini-2.5-flash', limiter: createLimiter() },
  // It queues without limit: latency is the only sign.
  {
    client: own,
    model: 'qwen3',
    limiter: createLimiter({ concurrency: 256, adaptive: 'latency' }),
  },
];
for (const { client, model, limiter } of accounts) {
  const messages = [{ role: 'user' as const, content: 'Say hello.' }];
  const answer = await limiter.run(({ signal }) =>
    client.chat.completions.create({ model, messages }, { signal }),
  );
  console.log(answer.model, answer.choices.length); // my-deployment 1 …
}
