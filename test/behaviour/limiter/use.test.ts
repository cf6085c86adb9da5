import { expect, it } from 'vitest';
import { createLimiter, type Lease } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';

const busy = Object.assign(new Error('busy'), { status: 429 });

it('use gives its lease back as ok, and returns what its body returns', async () => {
  const limiter = createLimiter({ clock: new ManualClock(), concurrency: 1 });
  let held: Lease | undefined;
  const result = await limiter.use(async (lease) => {
    held = lease;
    expect(lease.tokensReported).toBeUndefined();
    lease.recordTokens(30);
    lease.recordTokens(12);
    expect([lease.isReleased, lease.tokensReported]).toEqual([false, 42]);
    return 'answer';
  });
  expect(result).toBe('answer');
  expect(held?.isReleased).toBe(true);
  expect(limiter.snapshot()).toMatchObject({ ended: { ok: 1, failed: 0 }, waiting: 0 });
  expect(limiter.snapshot().concurrency.inFlight).toBe(0);
});

it('a body of use that throws counts as failed, and a 429 begins throttled mode', async () => {
  const limiter = createLimiter({ clock: new ManualClock(), adaptive: false });
  await expect(limiter.use(() => Promise.reject(busy))).rejects.toBe(busy);
  expect(limiter.snapshot()).toMatchObject({ ended: { ok: 0, failed: 1 }, mode: 'throttled' });
});

it('a use whose signal aborts while its body runs counts as cancelled', async () => {
  const limiter = createLimiter({ clock: new ManualClock() });
  const controller = new AbortController();
  const used = limiter.use(
    async () => {
      controller.abort();
      throw controller.signal.reason;
    },
    { signal: controller.signal },
  );
  await expect(used).rejects.toThrow('aborted');
  expect(limiter.snapshot().ended).toMatchObject({ ok: 0, failed: 0, cancelled: 1 });
});

it('the event `closed` has the number of unfinished requests', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, concurrency: 2 });
  const told: unknown[] = [];
  limiter.events$.subscribe((event) => {
    if (event.kind !== 'waited' && event.kind !== 'waiting') told.push(event);
  });
  const sleep = () => new Promise<void>((resolve) => clock.setTimer(resolve, 10));
  for (let n = 0; n < 5; n += 1) void limiter.run(sleep);
  limiter.close();
  expect(told).toMatchObject([
    { kind: 'closed' },
    { kind: 'draining', inFlight: 2, waiting: 3, level: 'info' },
  ]);
  await clock.advanceAsync(100);
  expect(told.at(-1)).toMatchObject({ kind: 'drained' });
});

it('a limiter that is closed without requests drains without an event', () => {
  const limiter = createLimiter({ clock: new ManualClock() });
  const told: string[] = [];
  limiter.events$.subscribe(({ kind }) => told.push(kind));
  limiter.close();
  expect(told).toEqual(['closed', 'drained']);
});

it('a total of 0 emits no milestone', async () => {
  const limiter = createLimiter({ clock: new ManualClock(), total: 0 });
  const told: string[] = [];
  limiter.events$.subscribe(({ kind }) => told.push(kind));
  await limiter.run(() => 1);
  expect(told).toEqual([]);
});
