import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { fate } from '../../limiter/harness.ts';

it('a request is accepted after the time in the previous error, however it is rounded', async () => {
  const times = fc.record({
    startMs: fc.double({ min: 0, max: 1e10, noNaN: true }),
    laterMs: fc.double({ min: 0, max: 6e5, noNaN: true }),
    waitMs: fc.double({ min: 600_001, max: 1e7, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(times, async ({ startMs, laterMs, waitMs }) => {
      const clock = new ManualClock();
      await clock.advanceAsync(startMs);
      const limiter = createLimiter({ clock, telemetry: false });
      const rejected = fate(
        limiter.run(async () => {
          const headers = { 'retry-after-ms': String(waitMs) };
          throw Object.assign(new Error('429'), { status: 429, headers });
        }),
      );
      await clock.advanceAsync(laterMs);
      expect(rejected.state).toBe('failed');
      const refused = fate(limiter.run(async () => 'taken'));
      await clock.advanceAsync(0);
      await clock.advanceAsync((refused.error as { retryAfterMs: number }).retryAfterMs);
      const again = fate(limiter.run(async () => 'taken'));
      await clock.advanceAsync(1);
      expect(again.value).toBe('taken');
    }),
    { numRuns: 300 },
  );
});
