import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { createLimiter } from 'headgate';

const client = new BedrockRuntimeClient({
  region: 'eu-central-1',
  maxAttempts: 1,
  requestHandler: new NodeHttpHandler({ httpsAgent: { maxSockets: 200 } }),
});
// No header reports Bedrock's limits: set those that Service Quotas shows for the model.
const limiter = createLimiter({ requestsPerMinute: 200, tokensPerMinute: 200_000 });

const answer = await limiter.run(({ signal }) =>
  client.send(
    new ConverseCommand({
      modelId: 'anthropic.claude-haiku-4-5-20251001-v1:0',
      messages: [{ role: 'user', content: [{ text: 'Say hello.' }] }],
      inferenceConfig: { maxTokens: 200 },
    }),
    { abortSignal: signal },
  ),
);
console.log('It says:', answer.output?.message?.content?.[0]?.text); // It says: …
console.log(limiter.snapshot().tokensUsed === answer.usage?.totalTokens); // true
