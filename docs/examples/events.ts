import { createLimiter } from 'headgate';

const limiter = createLimiter({
  requestsPerMinute: 1_200,
  circuitBreaker: { consecutiveFailures: 2 },
});
const log = { debug: () => {}, info: console.log, warn: console.log };

limiter.events$.subscribe(({ level, kind, at, ...facts }) =>
  log[level](kind, JSON.stringify(facts)),
);

limiter.recordFailure(new Error('no answer'));
limiter.recordFailure(new Error('no answer')); // circuitOpened {"openMs":30000,"failures":2}
limiter.close(); // closed {}, drained {}
await limiter.drain();
