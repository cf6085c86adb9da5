import { GoogleGenAI } from '@google/genai';
import { createLimiter } from 'headgate';

const ai = new GoogleGenAI({
  apiKey: process.env.GEMINI_API_KEY ?? '',
  httpOptions: { retryOptions: { attempts: 1 } },
});
const limiter = createLimiter({ requestsPerMinute: 1_000, tokensPerMinute: 1_000_000 });

const answer = await limiter.run(({ signal }) =>
  ai.models.generateContent({
    model: 'gemini-2.5-flash',
    contents: 'Say hello.',
    config: { abortSignal: signal, maxOutputTokens: 200 },
  }),
);
console.log('It says:', answer.text); // It says: …
console.log(limiter.snapshot().tokensUsed === answer.usageMetadata?.totalTokenCount); // true
