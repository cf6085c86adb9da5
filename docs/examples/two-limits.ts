import { createLimiter } from 'headgate';

const limiter = createLimiter({
  limits: {
    requests: { limit: 300, windowMs: 60_000 },
    perSecond: { limit: 10, windowMs: 1_000 },
  },
});
const costs = { perSecond: 1 }; // in a stream: costs: () => ({ perSecond: 1 })
const ask = limiter.wrap(async (prompt: string) => prompt.toUpperCase(), { costs });

console.log(await ask('one')); // ONE
console.log(limiter.snapshot().rateLimit?.perSecond?.used); // 1
