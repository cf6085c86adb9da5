import { createLimiter } from 'headgate';

const limiter = createLimiter({
  limits: { cents: { limit: 500, windowMs: Number.POSITIVE_INFINITY, initial: 3 } },
});
const ask = async (prompt: string) => prompt.toUpperCase();

console.log(await limiter.run(() => ask('one'), { costs: { cents: 2 } })); // ONE
const second = limiter.run(() => ask('two'), { costs: { cents: 2 } });
console.log(limiter.snapshot().binding); // rateLimit
limiter.add('cents', 100);
console.log(await second, limiter.snapshot().rateLimit?.cents?.available); // TWO 99
