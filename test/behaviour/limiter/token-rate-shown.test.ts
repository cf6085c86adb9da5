import { expect, it } from 'vitest';
import { SILENT, world } from '../../limiter/adaptive/world.ts';

// Before, the snapshot showed the old rate until a request was sent.
it('the snapshot shows a changed limit on tokens at once', async () => {
  const run = world({
    provider: { ...SILENT, latency: 100 },
    options: { tokensPerMinute: 60_000, adaptive: { strategy: 'rate', initialPerSecond: 5 } },
  });
  const [limiter] = run.limiters;
  const shown = () => {
    const { adaptive } = limiter?.snapshot() ?? {};
    return adaptive !== undefined && 'tokens' in adaptive ? adaptive.tokens?.perSecond : undefined;
  };
  run.push(20);
  await run.advance(20_000);
  expect(shown()).toBeCloseTo(998);
  limiter?.configure({ tokensPerMinute: 120_000 });
  expect(shown()).toBeCloseTo(1_996);
});
