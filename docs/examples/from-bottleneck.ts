import Bottleneck from 'bottleneck';
import { createLimiter } from 'headgate';

const work = async (n: number) => n * n;

const bottleneck = new Bottleneck({ maxConcurrent: 8, minTime: 5 }); // before
console.log(await bottleneck.schedule({ priority: 1 }, () => work(3)));

const limiter = createLimiter({ concurrency: 8, pace: { intervalMs: 5, jitter: 0 } }); // after
console.log(await limiter.run(() => work(3), { priority: 1 }));
await bottleneck.disconnect();
