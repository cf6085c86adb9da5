import { createLimiter } from 'headgate';
import pRetry from 'p-retry';

class Flaky extends Error {}
let calls = 0;
const work = async () => {
  calls += 1;
  if (calls % 2 === 1) throw new Flaky('try again');
  return `call ${calls}`;
};

console.log(await pRetry(work, { retries: 3, minTimeout: 10 })); // before

const limiter = createLimiter({
  failedAttempts: 4, // the first one, and 3 retries
  classify: (error) => (error instanceof Flaky ? { kind: 'failed', retry: true } : undefined),
});
console.log(await limiter.run(work)); // after
