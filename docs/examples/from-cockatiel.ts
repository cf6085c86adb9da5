import { bulkhead, ConsecutiveBreaker, circuitBreaker, handleAll, retry, wrap } from 'cockatiel';
import { createLimiter } from 'headgate';

const work = async () => 'done';

const policy = wrap(
  retry(handleAll, { maxAttempts: 3 }),
  circuitBreaker(handleAll, { halfOpenAfter: 30_000, breaker: new ConsecutiveBreaker(5) }),
  bulkhead(8, 100),
);
console.log(await policy.execute(work)); // before

const limiter = createLimiter({
  concurrency: 8,
  maxQueue: 100,
  circuitBreaker: { consecutiveFailures: 5, openMs: 30_000 },
});
console.log(await limiter.run(work)); // after
