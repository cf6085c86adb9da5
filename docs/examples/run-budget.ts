import { createLimiter, RateLimitExceededError } from 'headgate';

const limiter = createLimiter({ costBudget: { maxCost: 1, windowMs: Number.POSITIVE_INFINITY } });

const cases = ['1', '2', '3', '4', '5'];
const scores = await Promise.allSettled(
  cases.map((name) =>
    limiter.run(
      (context) => {
        context.recordCost(0.3);
        return `scored ${name}`;
      },
      { costs: { cost: 0.4 } }, // the estimate
    ),
  ),
);
const spent = (reason: unknown) =>
  reason instanceof RateLimitExceededError && reason.limit === 'costBudget';
const unsent = scores.filter((score) => score.status === 'rejected' && spent(score.reason));
console.log(`${unsent.length} of ${cases.length} do not fit`); // 2 of 5: three cost 0.9
