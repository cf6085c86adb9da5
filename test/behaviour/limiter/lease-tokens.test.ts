import { describe, expect, it } from 'vitest';
import type { RateLimitCharge } from '../../../src/advanced.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { rig } from '../../limiter/rig.ts';

const tokens = (charge: RateLimitCharge) => ({
  limits: { tokens: { limit: 100, windowMs: 1000, charge } },
});

describe('tokens that a lease records', () => {
  it.each([
    ['upfront', 40, 40],
    ['settle', 40, 70],
    ['actual', 0, 70],
  ] as const)('count as the limit is charged: %s', async (charge, before, after) => {
    const { limiter } = rig(tokens(charge));
    const lease = await limiter.acquire({ tokens: 40 });
    expect(limiter.snapshot().tokensUsed).toBe(before);
    lease.recordTokens(30);
    lease.recordTokens(40);
    expect(limiter.snapshot().tokensUsed).toBe(before);
    lease.release();
    expect(limiter.snapshot().tokensUsed).toBe(after);
    expect(lease.tokens).toBe(40);
  });

  it('admit waiting requests if fewer were used than estimated', async () => {
    const { clock, limiter } = rig(tokens('settle'));
    const lease = await limiter.acquire({ tokens: 90 });
    const next = fate(limiter.acquire({ tokens: 60 }));
    lease.recordTokens(10);
    await clock.advanceAsync(0);
    expect(next.state).toBe('open');
    lease.release();
    await clock.advanceAsync(0);
    expect(next.state).toBe('ok');
    expect(limiter.snapshot().tokensUsed).toBe(70);
  });

  it('may make a debt, for whose end all requests wait', async () => {
    const { clock, limiter } = rig(tokens('settle'));
    const lease = await limiter.acquire({ tokens: 1 });
    lease.recordTokens(150);
    lease.release();
    expect(limiter.snapshot()).toMatchObject({ tokensUsed: 150, tokensRemaining: 0 });
    const next = fate(limiter.acquire());
    await clock.advanceAsync(999);
    expect(next.state).toBe('open');
    await clock.advanceAsync(1);
    expect(next.state).toBe('ok');
  });

  it('count for failures too, and not after the release', async () => {
    const { limiter } = rig(tokens('settle'));
    const lease = await limiter.acquire({ tokens: 5 });
    lease.recordTokens(50);
    lease.release('failed');
    lease.recordTokens(30);
    expect(limiter.snapshot().tokensUsed).toBe(50);
  });

  it('are ignored by a limiter without a token limit', async () => {
    const { limiter } = rig({ requestsPerMinute: 10 });
    const lease = await limiter.acquire();
    lease.recordTokens(50);
    lease.release();
    expect(limiter.snapshot()).toMatchObject({ tokensUsed: undefined, tokensRemaining: undefined });
    expectIdle(limiter);
  });

  it('may be of any limit, by its name', async () => {
    const images = { limit: 5, windowMs: 1000, charge: 'actual' } as const;
    const { limiter } = rig({ limits: { images } });
    const lease = await limiter.acquire();
    lease.record('images', 3);
    lease.release();
    expect(limiter.snapshot().rateLimit).toMatchObject({ images: { used: 3, available: 2 } });
  });

  it('name the amount that is wrong, if the limit has no name', async () => {
    const { limiter } = rig({});
    const lease = await limiter.acquire();
    expect(() => lease.record('', Number.NaN)).toThrow(
      '`amount` must be a finite number >= 0, got NaN',
    );
    lease.release();
  });

  it.each([
    [-1, '`tokens` must be a finite number >= 0, got -1'],
    [Number.NaN, '`tokens` must be a finite number >= 0, got NaN'],
    [Number.POSITIVE_INFINITY, '`tokens` must be a finite number >= 0, got Infinity'],
    ['7', '`tokens` must be a finite number >= 0, got "7"'],
    [undefined, '`tokens` must be a finite number >= 0, got undefined'],
  ])('must be an amount: %s is refused', async (amount, message) => {
    const { limiter } = rig(tokens('settle'));
    const lease = await limiter.acquire({ tokens: 4 });
    expect(() => lease.recordTokens(amount as number)).toThrow(message);
    lease.release();
    expect(() => lease.recordTokens(amount as number)).toThrow(message);
    expect(limiter.snapshot().tokensUsed).toBe(4);
  });
});

describe('a lease', () => {
  it('belongs to its limiter: its release affects no other', async () => {
    const one = rig({ concurrency: 1 }).limiter;
    const two = rig({ concurrency: 1 }).limiter;
    const [first, second] = [await one.acquire(), await two.acquire()];
    first.release();
    expectIdle(one);
    expect(two.snapshot()).toMatchObject({ concurrency: { inFlight: 1 }, ended: { ok: 0 } });
    // There is no method of a limiter that takes a lease, and a lease's own ask for a lease.
    const { release } = second;
    expect(() => release.call(two as unknown as typeof second)).toThrow(TypeError);
    expect(two.snapshot().concurrency.inFlight).toBe(1);
    second.release();
    expectIdle(two);
  });
});
