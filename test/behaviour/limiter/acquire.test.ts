import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';

describe('a lease', () => {
  it('holds what was asked for until it is released, once', async () => {
    const limiter = createLimiter({ clock: new ManualClock(), concurrency: 2 });
    const lease = await limiter.acquire({ bytes: 1000, tokens: 7 });
    const other = await limiter.acquire();
    expect(lease).toMatchObject({ bytes: 1000, tokens: 7, epoch: 0 });
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { inFlight: 2 },
      byteBudget: { used: 1000 },
    });
    lease.release();
    lease.release('failed');
    lease[Symbol.dispose]();
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { inFlight: 1 },
      byteBudget: { used: 0 },
    });
    other.release();
    expectIdle(limiter);
  });

  it('has a quarter of its bytes as tokens by default', async () => {
    const limiter = createLimiter({ clock: new ManualClock() });
    expect(await limiter.acquire({ bytes: 10 })).toMatchObject({ bytes: 10, tokens: 3 });
    expect(await limiter.acquire()).toMatchObject({ bytes: 0, tokens: 0 });
  });

  it('is released at the end of a block with using, whatever ends it', async () => {
    const limiter = createLimiter({ clock: new ManualClock() });
    const inFlight = () => limiter.snapshot().concurrency.inFlight;
    {
      using lease = await limiter.acquire({ bytes: 5 });
      expect(inFlight()).toBe(1);
      lease.release();
      expect(inFlight()).toBe(0);
    }
    {
      await using _lease = await limiter.acquire();
      expect(inFlight()).toBe(1);
    }
    expectIdle(limiter);
    const failing = async () => {
      using _lease = await limiter.acquire();
      throw new Error('within');
    };
    await expect(failing()).rejects.toThrow('within');
    expectIdle(limiter);
  });

  it('goes to the next request in the same turn in which it is released', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 1 });
    const first = await limiter.acquire();
    const second = fate(limiter.acquire());
    const third = fate(limiter.acquire());
    first.release();
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 1, waiting: 1 });
    await clock.advanceAsync(0);
    expect([second.state, third.state]).toEqual(['ok', 'open']);
    second.value?.release();
    await clock.advanceAsync(0);
    third.value?.release();
    expectIdle(limiter);
  });

  it('released as ok ends the probing of a backoff, released as failed does not', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    limiter.feedback.next({ kind: 'throttled' });
    const leases = [0, 1, 2, 3].map(() => fate(limiter.acquire()));
    await clock.advanceAsync(1000);
    const granted = () => leases.filter(({ state }) => state === 'ok').length;
    expect(granted()).toBe(1);
    expect(leases[0]?.value?.epoch).toBe(1);
    leases[0]?.value?.release('failed');
    await clock.advanceAsync(0);
    expect(granted()).toBe(2);
    expect(limiter.snapshot().backoff.state).toBe('probing');
    leases[1]?.value?.release();
    await clock.advanceAsync(0);
    expect(granted()).toBe(4);
    expect(limiter.snapshot().backoff.state).toBe('open');
  });

  it('from before a backoff does not end its probing', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    const early = await limiter.acquire();
    limiter.feedback.next({ kind: 'throttled', epoch: early.epoch });
    limiter.feedback.next({ kind: 'throttled', epoch: early.epoch });
    expect(limiter.feedback.epoch).toBe(1);
    await clock.advanceAsync(1000);
    early.release();
    expect(limiter.snapshot().backoff.state).toBe('probing');
  });
});
