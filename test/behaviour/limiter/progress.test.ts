import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, type LimiterProgress } from '../../../src/index.ts';
import { fate } from '../../limiter/harness.ts';
import { failing, rig, script } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

function watchProgress(limiter: ReturnType<typeof createLimiter>): LimiterProgress[] {
  const reports: LimiterProgress[] = [];
  limiter.progress$.subscribe((report) => reports.push(report));
  return reports;
}

describe('progress$', () => {
  it('emits each milestone once, and otherwise once a second', async () => {
    const { clock, limiter } = rig({ total: 40, milestonePercent: 25 });
    const reports = watchProgress(limiter);
    for (let count = 0; count < 44; count += 1) {
      await clock.advanceAsync(150);
      await limiter.run(() => count);
    }
    expect(reports[0]).toMatchObject({ completed: 0, percentage: 0, milestone: undefined });
    const told = reports.slice(1);
    expect(told.flatMap(({ milestone }) => milestone ?? [])).toEqual([25, 50, 75, 100]);
    expect(told.find(({ milestone }) => milestone === 50)).toMatchObject({
      completed: 20,
      failed: 0,
      remaining: 20,
      percentage: 50,
    });
    expect(told.map(({ completed }) => completed)).toEqual([1, 8, 10, 17, 20, 27, 30, 37, 40]);
  });

  it('has an ETA: the mean of the last 50 durations, for what is left, by those that ran at once', async () => {
    const { clock, limiter } = rig({ total: 100, concurrency: 4 });
    watchProgress(limiter);
    const take = async (ms: number) => {
      const lease = await limiter.acquire();
      await clock.advanceAsync(ms);
      lease.release();
    };
    for (let count = 0; count < 10; count += 1) await take(1000);
    const held = await limiter.acquire();
    expect(limiter.snapshot().progress).toMatchObject({ remaining: 90, etaMs: 90_000 });
    const other = await limiter.acquire();
    expect(limiter.snapshot().progress.etaMs).toBe(90_000);
    for (let count = 0; count < 40; count += 1) await take(100);
    expect(limiter.snapshot().progress.etaMs).toBe((50 * (10 * 1000 + 40 * 100)) / 50);
    for (let count = 0; count < 10; count += 1) await take(100);
    expect(limiter.snapshot().progress.etaMs).toBe(40 * 100);
    held.release('cancelled');
    other.release('cancelled');
    expect(limiter.snapshot().progress.etaMs).toBe(40 * 100);
  });

  it('has an ETA if requests are sent one after another', async () => {
    const { clock, limiter } = rig({ total: 10, concurrency: 1 });
    const reports = watchProgress(limiter);
    for (let count = 0; count < 10; count += 1) {
      const lease = await limiter.acquire();
      await clock.advanceAsync(200);
      lease.release();
    }
    expect(reports.slice(1).map(({ etaMs }) => etaMs)).toEqual([
      1800, 1600, 1400, 1200, 1000, 800, 600, 400, 200, 0,
    ]);
  });

  it('counts the time in a slot, not the wait for it', async () => {
    const { clock, limiter } = rig({ total: 4, concurrency: 1 });
    const { run, end } = script(limiter);
    for (const name of ['a', 'b', 'c']) run(name);
    for (const name of ['a', 'b']) {
      await clock.advanceAsync(300);
      end(name);
    }
    await clock.advanceAsync(0);
    expect(limiter.snapshot().progress.etaMs).toBe(600);
  });

  it('names the binding gate', async () => {
    const { clock, limiter } = rig({ limits: { requests: { limit: 1, windowMs: 500 } } });
    const reports = watchProgress(limiter);
    fate(limiter.run(() => 1));
    fate(limiter.run(() => 2));
    fate(limiter.run(() => 3));
    await clock.advanceAsync(2000);
    expect(reports.map(({ binding, completed }) => [binding, completed])).toEqual([
      [undefined, 0],
      ['rateLimit', 1],
      [undefined, 3],
    ]);
  });

  it('counts failed and refused requests as completed, and ignores cancelled ones', async () => {
    const { limiter } = rig({ total: 10, limits: { units: { limit: 5, windowMs: 10 } } });
    await failing(limiter, 2, new ApiError(400));
    await limiter.run(() => 'ok');
    await expect(limiter.run(() => 1, { costs: { units: 9 } })).rejects.toThrow();
    (await limiter.acquire()).release('cancelled');
    expect(limiter.snapshot().progress).toMatchObject({
      completed: 1,
      failed: 3,
      remaining: 6,
      percentage: 40,
    });
  });

  it('leaves refused requests out of the mean duration', async () => {
    const { clock, limiter } = rig({ total: 10, limits: { units: { limit: 5, windowMs: 10 } } });
    const lease = await limiter.acquire();
    await clock.advanceAsync(1000);
    lease.release();
    await expect(limiter.run(() => 1, { costs: { units: 9 } })).rejects.toThrow();
    await limiter.acquire();
    expect(limiter.snapshot().progress).toMatchObject({ remaining: 8, etaMs: 8000 });
  });

  it('counts the same for early and late subscribers', async () => {
    const { limiter } = rig({ limits: { units: { limit: 5, windowMs: 10 } } });
    await failing(limiter, 2, new ApiError(400));
    await limiter.run(() => 'ok');
    await expect(limiter.run(() => 1, { costs: { units: 9 } })).rejects.toThrow();
    expect(watchProgress(limiter)).toMatchObject([{ completed: 1, failed: 3, total: undefined }]);
    expect(limiter.snapshot().progress).toMatchObject({
      completed: 1,
      failed: 3,
      etaMs: undefined,
    });
  });

  it('of a total of 0 is 100 %, and never NaN', async () => {
    const { limiter } = rig({ total: 0 });
    const done = { total: 0, remaining: 0, percentage: 100, etaMs: 0 };
    expect(limiter.snapshot().progress).toMatchObject({ ...done, completed: 0 });
    await limiter.run(() => 1);
    expect(limiter.snapshot().progress).toMatchObject({ ...done, completed: 1 });
  });

  it('follows a total that changes: no milestone twice, none left out', async () => {
    const { limiter } = rig({ total: 10, milestonePercent: 50 });
    const reports = watchProgress(limiter);
    for (let count = 0; count < 5; count += 1) await limiter.run(() => count);
    limiter.configure({ total: 20 });
    expect(limiter.snapshot().progress).toMatchObject({ percentage: 25, remaining: 15 });
    for (let count = 0; count < 5; count += 1) await limiter.run(() => count);
    limiter.configure({ total: 8 });
    expect(reports.flatMap(({ milestone }) => milestone ?? [])).toEqual([50, 100]);
    expect(reports.at(-1)).toMatchObject({ total: 8, remaining: 0, percentage: 100, etaMs: 0 });
  });

  it.each([
    [{ total: -1 }, '`total` must be an integer >= 0, got -1'],
    [{ total: Number.NaN }, '`total` must be an integer >= 0, got NaN'],
    [{ milestonePercent: 0 }, '`milestonePercent` must be an integer >= 1, got 0'],
    [{ total: 5, milestonePercent: 101 }, '`milestonePercent` must be'],
    [{ milestonePercent: 101 }, '`milestonePercent` must be'],
  ])('of nonsense is refused at once: %j', (options, message) => {
    expect(() => createLimiter(options)).toThrow(message);
  });
});

describe('the end of a limiter', () => {
  it('completes its Observables, after the last state and progress', async () => {
    const { clock, limiter } = rig();
    const told: unknown[] = [];
    const seen = (name: string) => ({
      next: (value: unknown) => told.push([name, value]),
      complete: () => told.push(name),
    });
    limiter.state$.subscribe(seen('state'));
    limiter.events$.pipe(map(({ kind }) => kind)).subscribe(seen('events'));
    limiter.progress$.pipe(map(({ completed }) => completed)).subscribe(seen('progress'));
    for (let count = 0; count < 3; count += 1) limiter.recordSuccess({ durationMs: 5 });
    limiter.close();
    await clock.advanceAsync(0);
    expect(told).toEqual([
      ['state', 'running'],
      ['progress', 0],
      ['progress', 1],
      ['state', 'closed'],
      ['events', 'closed'],
      ['events', 'drained'],
      ['progress', 3],
      'progress',
      'state',
      'events',
    ]);
    expect(clock.pendingTimers).toBe(0);
    const late: unknown[] = [];
    limiter.state$.subscribe({ next: (s) => late.push(s), complete: () => late.push('end') });
    expect(late).toEqual(['closed', 'end']);
    expect(limiter.snapshot().ended.ok).toBe(3);
  });
});
