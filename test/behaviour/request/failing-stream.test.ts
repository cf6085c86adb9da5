import { NEVER, Subject } from 'rxjs';
import { expect, it, vi } from 'vitest';
import { createLimiter, createLimiterGroup } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

it('sends no more of a failed stream, even if its error callback releases leases', async () => {
  const limiter = createLimiter({ concurrency: 1, clock: new ManualClock() });
  const lease = await limiter.acquire();
  const source = new Subject<number>();
  const project = vi.fn(() => NEVER);
  source.pipe(limiter.throttle(project)).subscribe({ error: () => lease.release() });
  source.next(1);
  source.error(new Error('of the source'));
  expect(project).not.toHaveBeenCalled();
  expect(limiter.snapshot()).toMatchObject({ waiting: 0, concurrency: { inFlight: 0 } });
});

it('sends no retry of it either', async () => {
  const clock = new ManualClock();
  const limits = { requests: { limit: 1, windowMs: 60_000 } };
  const limiter = createLimiter({ adaptive: false, backoff: { backoffMs: 1 }, limits, clock });
  const source = new Subject<number>();
  const project = vi.fn(() => Promise.reject({ status: 429 }));
  source.pipe(limiter.throttle(project)).subscribe({
    error: () => limiter.configure({ limits: { requests: null } }),
  });
  source.next(1);
  await clock.advanceAsync(1_000);
  expect(limiter.snapshot().waiting).toBe(1);
  source.error(new Error('of the source'));
  expect(project).toHaveBeenCalledOnce();
  expect(limiter.snapshot()).toMatchObject({ waiting: 0, concurrency: { inFlight: 0 } });
});

it('sends no more of it where a request or its key has failed it, in a group too', async () => {
  const group = createLimiterGroup((key: string) => key, {
    clock: new ManualClock(),
    each: { concurrency: 1 },
    maxKeys: 1,
  });
  const lease = await group.acquire('a');
  const source = new Subject<string>();
  const project = vi.fn(() => NEVER);
  const failed = vi.fn(() => lease.release());
  source.pipe(group.throttle(project)).subscribe({ error: failed });
  source.next('a');
  source.next('b');
  expect([failed.mock.calls.length, project.mock.calls.length]).toEqual([1, 0]);
});
