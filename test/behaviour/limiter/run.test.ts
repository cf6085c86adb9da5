import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { ApiError, failingWith, tooMany } from '../../request/harness.ts';

describe('run', () => {
  it('returns what the task returns, a promise, a thenable or a value', async () => {
    const limiter = createLimiter({ clock: new ManualClock() });
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
    const thenable = { then: (good: (value: number) => void) => good(3) } as PromiseLike<number>;
    expect(await limiter.run(async () => 1)).toBe(1);
    expect(await limiter.run(() => 2)).toBe(2);
    expect(await limiter.run(() => thenable)).toBe(3);
    expect(await limiter.run(() => undefined)).toBeUndefined();
    expect(await limiter.run(async () => [1, 2])).toEqual([1, 2]);
    expectIdle(limiter);
  });

  it('starts a task at once if no limit binds', () => {
    const limiter = createLimiter({ clock: new ManualClock() });
    let started = false;
    void limiter.run(() => {
      started = true;
    });
    expect(started).toBe(true);
  });

  it('calls the task again after a 429, holding its slot', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    const { calls, project } = failingWith([tooMany(), new ApiError(503)], () => clock.now());
    const attempts: number[] = [];
    const ran = fate(
      limiter.run(({ attempt }) => {
        attempts.push(attempt);
        return project();
      }),
    );
    await clock.advanceAsync(500);
    expect(limiter.snapshot().concurrency.inFlight).toBe(1);
    await clock.runAllAsync();
    expect(calls.slice(0, 2)).toEqual([0, 1000]);
    expect(attempts).toEqual([1, 2, 3]);
    expect(ran.value).toBe('done');
    expectIdle(limiter);
  });

  it.each([
    ['rejects', () => Promise.reject(new ApiError(400))],
    [
      'throws at once',
      () => {
        throw new ApiError(400);
      },
    ],
  ])('rejects with the error of a task that %s', async (_name, task) => {
    const limiter = createLimiter({ clock: new ManualClock(), concurrency: 1 });
    await expect(limiter.run(task)).rejects.toMatchObject({ status: 400 });
    expectIdle(limiter);
    expect(await limiter.run(() => 'next')).toBe('next');
  });

  it('returns a Response with a final error, and retries others', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const statuses = [429, 404];
    const ran = fate(limiter.run(() => new Response(null, { status: statuses.shift() ?? 200 })));
    await clock.runAllAsync();
    expect(ran.value?.status).toBe(404);
    expectIdle(limiter);
  });

  it('may be called from within a task', async () => {
    const limiter = createLimiter({ clock: new ManualClock(), concurrency: 2 });
    const nested = limiter.run(() => limiter.run(() => 'inner'));
    expect(await nested).toBe('inner');
    expectIdle(limiter);
  });

  it('takes a hundred thousand tasks that end at once without a growing stack', async () => {
    const limiter = createLimiter({ clock: new ManualClock(), concurrency: 1 });
    let done = 0;
    const task = () => {
      done += 1;
    };
    await Promise.all(Array.from({ length: 100_000 }, () => limiter.run(task)));
    expect(done).toBe(100_000);
    expectIdle(limiter);
  });
});
