import { describe, expect, it } from 'vitest';
import { CostAboveLimitError } from '../../../src/index.ts';
import { fate } from '../../limiter/harness.ts';
import { rig } from '../../limiter/rig.ts';

const HOUR_MS = 3_600_000;
const tokens = (limit: number) => ({ tokens: { limit, windowMs: HOUR_MS } });

describe('a request that waits for a slot when a limit is lowered below its cost', () => {
  it('fails as soon as it is the first in the queue, even if the slots are taken', async () => {
    const { clock, limiter } = rig({ concurrency: 1, limits: tokens(10), adaptive: false });
    const first = await limiter.acquire();
    void limiter.acquire();
    const impossible = fate(limiter.run(() => 'never', { tokens: 8 }));
    limiter.configure({ limits: tokens(6) });
    first.release();
    await clock.advanceAsync(0);
    expect(impossible.error).toBeInstanceOf(CostAboveLimitError);
  });

  it('takes no slot, and fails when its turn comes behind requests that wait for the limit', async () => {
    const { clock, limiter } = rig({ concurrency: 2, limits: tokens(10), adaptive: false });
    const first = await limiter.acquire({ tokens: 5 });
    const second = await limiter.acquire({ tokens: 5 });
    void limiter.acquire({ tokens: 3 });
    const impossible = fate(limiter.run(() => 'never', { tokens: 8 }));
    limiter.configure({ limits: tokens(6) });
    first.release();
    second.release();
    await clock.advanceAsync(HOUR_MS - 1);
    expect(impossible.state).toBe('open');
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
    await clock.advanceAsync(1);
    expect(impossible.error).toBeInstanceOf(CostAboveLimitError);
    expect(limiter.snapshot().concurrency.inFlight).toBe(1);
  });
});
