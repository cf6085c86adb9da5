import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../../src/index.ts';
import { ManualClock } from '../../../../src/simulator/manual-clock.ts';
import { tooMany } from '../../../request/harness.ts';

describe('an API that answers in the instant of the request', () => {
  it.each([
    [75, 107],
    [75, 83, 89, 107, 114, 147],
  ])('gets all requests, though it has rejected number %i and more', async (...rejected) => {
    const clock = new ManualClock();
    const limits = { requests: { limit: 1_000, windowMs: 1_000 } };
    const limiter = createLimiter({ clock, concurrency: 50, limits, random: () => 0 });
    let calls = 0;
    const ask = async () => {
      calls += 1;
      if (rejected.includes(calls)) throw tooMany();
    };
    for (let batch = 1; batch <= 4; batch += 1) {
      for (let n = 0; n < 100; n += 1) void limiter.run(ask);
      await clock.advanceAsync(1_000);
      expect(limiter.snapshot()).toMatchObject({ waiting: 0, ended: { ok: 100 * batch } });
    }
  });
});
