import { createLimiter } from 'headgate';
import { AzureOpenAI } from 'openai';

const client = new AzureOpenAI({
  endpoint: 'https://my-resource.openai.azure.com',
  deployment: 'my-deployment',
  maxRetries: 0,
});
// The quota of the deployment, as the portal shows it.
const limiter = createLimiter({ requestsPerMinute: 600, tokensPerMinute: 100_000 });

const answer = await limiter.run(({ signal }) =>
  client.chat.completions.create(
    { model: 'my-deployment', messages: [{ role: 'user', content: 'Say hello.' }] },
    { signal },
  ),
);
console.log(answer.choices.length, limiter.snapshot().tokensUsed === answer.usage?.total_tokens); // 1 true
