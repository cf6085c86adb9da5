import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 1, maxQueue: 1_000, waitTimeoutMs: 60_000 });
const complete = async (prompt: string) => console.log(prompt);

await Promise.all([
  limiter.run(() => complete('the first of the batch')),
  limiter.run(() => complete('the rest of the batch')),
  limiter.run(() => complete('somebody looks at a screen'), { priority: 10 }),
]); // first, then the one with the priority, then the rest
