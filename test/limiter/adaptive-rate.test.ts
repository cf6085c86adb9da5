import { from, lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { throttle } from '../../src/index.ts';
import { createProvider, ManualClock } from '../../src/simulator/index.ts';

it('keeps a token bucket full', async () => {
  const clock = new ManualClock();
  const provider = createProvider({
    clock,
    limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: 100, windowMs: 10_000 }],
    latency: { meanMs: 3400, sigma: 0.5 },
  });
  const done = lastValueFrom(
    from(Array.from({ length: 3000 }, (_, index) => index)).pipe(
      throttle(() => provider.submitOrThrow({ inputTokens: 10, maxTokens: 10 }), {
        adaptive: true,
        clock,
        outcomes: true,
      }),
      toArray(),
    ),
  );
  await clock.runAllAsync();
  const outcomes = await done;
  expect(outcomes.filter(({ status }) => status === 'ok')).toHaveLength(3000);
  // 100 at once, then ten a second; the last takes its latency.
  expect(clock.now()).toBeLessThan((2900 / 10) * 1000 * 1.05);
  expect(provider.stats().rejected).toBeLessThan(30);
});
