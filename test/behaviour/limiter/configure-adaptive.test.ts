import { describe, expect, it } from 'vitest';
import type { Limiter } from '../../../src/index.ts';
import { failing, listen, rig } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

const cooling = { strategy: 'failures', failureThreshold: 1 } as const;

describe('configure, with an adaptive limit on,', () => {
  it('keeps the learned limit, capped by the new maximum', async () => {
    const { clock, limiter } = rig({ concurrency: 10, adaptive: cooling });
    await failing(limiter, 1, new ApiError(500));
    limiter.configure({ concurrency: 20 });
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 5 },
      maxConcurrency: 20,
      safeCeiling: 20,
    });
    limiter.configure({ concurrency: 3 });
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 3 },
      maxConcurrency: 3,
      safeCeiling: 3,
    });
    await clock.advanceAsync(600_000);
    expect(limiter.snapshot().concurrency.limit).toBe(3);
  });

  it('lifts a ceiling no further than the new maximum', async () => {
    const { clock, limiter } = rig({ concurrency: 16, adaptive: cooling });
    await failing(limiter, 2, new ApiError(500));
    expect(limiter.snapshot()).toMatchObject({ concurrency: { limit: 4 }, safeCeiling: 8 });
    limiter.configure({ concurrency: 12 });
    expect(limiter.snapshot()).toMatchObject({ concurrency: { limit: 4 }, safeCeiling: 8 });
    await clock.advanceAsync(300_000);
    expect(limiter.snapshot().safeCeiling).toBe(12);
    await clock.advanceAsync(1_200_000);
    expect(limiter.snapshot().concurrency.limit).toBe(12);
  });

  it('moves a limit at the maximum with it, up and down', async () => {
    const { limiter } = rig({ concurrency: 10, adaptive: 'failures' });
    limiter.configure({ concurrency: 30 });
    expect(limiter.snapshot().concurrency.limit).toBe(30);
    limiter.configure({ concurrency: 2 });
    expect(limiter.snapshot().concurrency.limit).toBe(2);
    limiter.configure({ concurrency: 5 });
    expect(limiter.snapshot().concurrency.limit).toBe(5);
  });

  it('reports the resulting state: a limit at its ceiling no longer cools', async () => {
    const { limiter } = rig({ concurrency: 10, adaptive: cooling });
    const states: string[] = [];
    limiter.state$.subscribe((state) => states.push(state));
    await failing(limiter, 1, new ApiError(500));
    limiter.configure({ concurrency: 5 });
    expect(limiter.snapshot().state).toBe('running');
    expect(states).toEqual(['running', 'cooling', 'running']);
  });

  it('sets the time of the next step again if there is one', async () => {
    const { clock, limiter } = rig({ concurrency: 10, adaptive: cooling });
    await failing(limiter, 1, new ApiError(500));
    limiter.configure({ concurrency: 5 });
    const events = listen(limiter);
    limiter.configure({ concurrency: 10 });
    expect(limiter.snapshot().concurrency.limit).toBe(10);
    await failing(limiter, 1, new ApiError(500));
    await clock.advanceAsync(60_000);
    expect(events.map(({ kind }) => kind)).toEqual([
      'decelerated',
      'coolingStarted',
      'reaccelerated',
    ]);
  });

  it('bounds the limit of a latency gradient, and its lowest', async () => {
    const adaptive = { strategy: 'latency', initialLimit: 8, minLimit: 4 } as const;
    const { limiter } = rig({ concurrency: 10, adaptive });
    limiter.configure({ concurrency: 3 });
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 3 },
      adaptive: { limit: 3, minLimit: 3, maxLimit: 3 },
    });
    limiter.configure({ concurrency: 100 });
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 3 },
      adaptive: { minLimit: 3, maxLimit: 100 },
    });
  });
});

describe('an adaptive policy that was removed', () => {
  const limits = { requests: { limit: 1_000, windowMs: 60_000 } };
  const changes: Record<string, readonly Parameters<Limiter['configure']>[0][]> = {
    'by itself': [{ adaptive: false }],
    'with the first limits': [{ limits, adaptive: false }],
    'after the first limits': [{ limits }, { adaptive: false }],
  };

  it.each(Object.keys(changes))('ignores the ends of requests in flight: %s', async (kind) => {
    const { limiter } = rig({ concurrency: 10, adaptive: cooling });
    const lease = await limiter.acquire();
    for (const change of changes[kind] ?? []) limiter.configure(change);
    const events = listen(limiter);
    lease.release('failed', new ApiError(500));
    expect(events).toEqual([]);
    expect(limiter.snapshot().concurrency.limit).toBe(10);
  });
});
