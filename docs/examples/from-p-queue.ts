import { createLimiter } from 'headgate';
import PQueue from 'p-queue';

const work = async () => 'done';

const queue = new PQueue({ concurrency: 8, interval: 1_000, intervalCap: 20 }); // before
console.log(await queue.add(work, { priority: 1 }));

const limits = { requests: { limit: 20, windowMs: 1_000 } };
const limiter = createLimiter({ concurrency: 8, limits }); // after
console.log(await limiter.run(work, { priority: 1 }));
await limiter.drain(); // queue.onIdle()
