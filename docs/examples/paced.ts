import { openai } from '@ai-sdk/openai';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { createLimiter } from 'headgate';
import { paced } from 'headgate/ai';

const limiter = createLimiter({ requestsPerMinute: 500, tokensPerMinute: 200_000 });
const model = wrapLanguageModel({
  model: openai.chat('gpt-5-mini'),
  middleware: paced(limiter),
});

const { text } = await generateText({ model, prompt: 'Say hello.', maxRetries: 0 });
console.log('It says:', text); // It says: …

const answer = streamText({ model, prompt: 'Name a colour.', maxRetries: 0 });
for await (const part of answer.textStream) process.stdout.write(part);
console.log('\nended:', limiter.snapshot().ended.ok); // ended: 2
