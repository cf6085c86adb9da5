import { describe, expect, it } from 'vitest';
import { RequestTimeoutError } from '../../src/index.ts';
import { countedSignal, expectIdle, fate } from './harness.ts';
import { rig } from './rig.ts';

const never = () => new Promise<never>(() => {});

describe('timeoutMs of a call', () => {
  it('ends its wait, for a slot and while the limiter is paused', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const held = await limiter.acquire();
    const waiting = [
      fate(limiter.run(() => 1, { timeoutMs: 100 })),
      fate(limiter.acquire({ timeoutMs: 200 })),
      fate(limiter.wrap(() => 1, { timeoutMs: 300 })()),
    ];
    limiter.pause();
    await clock.advanceAsync(299);
    expect(waiting.map(({ state }) => state)).toEqual(['failed', 'failed', 'open']);
    await clock.advanceAsync(1);
    expect(waiting[2]?.error).toBeInstanceOf(RequestTimeoutError);
    expect(waiting[0]?.error).toMatchObject({
      code: 'REQUEST_TIMEOUT',
      timeoutMs: 100,
      message: 'the call did not end within its timeoutMs of 100 ms',
    });
    limiter.resume();
    held.release();
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('aborts the call in flight, and gives back its slot', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    let seen: AbortSignal | undefined;
    const ran = fate(
      limiter.run(
        ({ signal }) => {
          seen = signal;
          return never();
        },
        { timeoutMs: 50 },
      ),
    );
    await clock.advanceAsync(50);
    expect(ran.error).toBeInstanceOf(RequestTimeoutError);
    expect(seen?.aborted).toBe(true);
    expect(seen?.reason).toBe(ran.error);
    expectIdle(limiter);
  });

  it('leaves no timer and no listener when the call has ended before, or a signal aborts it', async () => {
    const { clock, limiter } = rig();
    const { controller, signal, listeners } = countedSignal();
    expect(await limiter.run(() => 'ok', { timeoutMs: 50, signal })).toBe('ok');
    await Promise.resolve();
    expect([clock.pendingTimers, listeners.size]).toEqual([0, 0]);
    const lease = await limiter.acquire({ timeoutMs: 50 });
    await clock.advanceAsync(100);
    expect(lease.isReleased).toBe(false);
    lease.release();
    const ran = fate(limiter.run(never, { timeoutMs: 50, signal }));
    controller.abort(new Error('mine'));
    await clock.advanceAsync(0);
    expect(ran.error).toMatchObject({ message: 'mine' });
    const late = fate(limiter.run(() => 1, { timeoutMs: 50, signal }));
    await clock.advanceAsync(0);
    expect(late.error).toMatchObject({ message: 'mine' });
    expect([clock.pendingTimers, listeners.size]).toEqual([0, 0]);
    expectIdle(limiter);
  });

  it.each([0, Number.NaN, '5'])('must be a number >= 1: %j is refused', (timeoutMs) => {
    const { clock, limiter } = rig();
    const options = { timeoutMs: timeoutMs as number };
    const message = '`timeoutMs` must be a number >= 1 or Infinity';
    expect(() => limiter.run(() => 1, options)).toThrow(message);
    expect(() => limiter.acquire(options)).toThrow(message);
    expect(() => limiter.wrap(() => 1, options)).toThrow(message);
    expect(clock.pendingTimers).toBe(0);
  });
});
