import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 1, name: 'labels' });
const slow = () => new Promise((resolve) => setTimeout(resolve, 50));

const both = Promise.all([limiter.run(slow), limiter.run(slow)]);
const { binding, waiting, concurrency, mode } = limiter.snapshot();
console.log(binding, waiting, `${concurrency.inFlight}/${concurrency.limit}`, mode);
await both; // concurrency 1 1/1 normal
