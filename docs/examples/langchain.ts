import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { createLimiter } from 'headgate';

const limiter = createLimiter({ requestsPerMinute: 500 });
const model = new ChatOpenAI({
  model: 'gpt-5-mini',
  maxRetries: 0,
  timeout: 3_600_000, // it includes the time that a request waits
  configuration: { fetch: limiter.fetch },
});

// Chains, agents and tools of this model are paced, too.
const answers = await model.batch([
  [new HumanMessage('Say hello.')],
  [new HumanMessage('Name a colour.')],
]);
for (const { text } of answers) console.log('It says:', text); // It says: …
for await (const { text } of await model.stream('Count to three.')) process.stdout.write(text);
console.log('\nended:', limiter.snapshot().ended.ok); // ended: 3
