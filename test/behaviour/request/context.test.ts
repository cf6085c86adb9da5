import { expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';

it('the functions of a context need no `this`', async () => {
  const limiter = createLimiter({
    telemetry: false,
    tokensPerMinute: 1_000,
    costBudget: { maxCost: 10, windowMs: 60_000 },
  });
  const answer = { usage: { total_tokens: 7 } };
  await limiter.run(({ observe, signal }) => Promise.resolve(observe(answer) && signal.aborted));
  expect(limiter.snapshot().tokensUsed).toBe(7);
  await limiter.run(({ recordTokens, record, recordCost }) => {
    recordTokens(3);
    record('tokens', 2);
    recordCost(0.5);
  });
  expect(limiter.snapshot().tokensUsed).toBe(7 + 5);
  expect(limiter.snapshot().costBudget?.used).toBe(0.5);
  let attempts = 0;
  const failed = limiter.run(({ doNotRetry }) => {
    attempts += 1;
    doNotRetry();
    throw Object.assign(new Error('500'), { status: 500 });
  });
  await expect(failed).rejects.toThrow('500');
  expect(attempts).toBe(1);
});
