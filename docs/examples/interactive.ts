import { createLimiter } from 'headgate';

const limiter = createLimiter({
  // In place of `requestsPerMinute: 60`.
  limits: { requests: { limit: 60, windowMs: 60_000, algorithm: 'token-bucket', burst: 5 } },
});
const complete = async (prompt: string) => console.log(prompt);

await limiter.run(() => complete('somebody looks at a screen'), { priority: 1_000 });
