import {
  config,
  firstValueFrom,
  from,
  lastValueFrom,
  Observable,
  of,
  range,
  Subject,
  take,
  toArray,
} from 'rxjs';
import { afterEach, expect, it } from 'vitest';
import { memoryStore } from '../../../src/fleet/memory-store.ts';
import { AttemptTimeoutError, createLimiter, throttle, throttleFrom } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { countedSignal, expectIdle, fate } from '../../limiter/harness.ts';
import { rig } from '../../limiter/rig.ts';
import { watch } from '../../request/harness.ts';

const never = () => new Promise<never>(() => {});

afterEach(() => {
  config.onUnhandledError = null;
});

it('the last request leaves a paused limiter, and `drain` resolves', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, telemetry: false, concurrency: 1 });
  limiter.pause();
  const controller = new AbortController();
  const call = fate(limiter.run(() => 1, { signal: controller.signal }));
  const drained = fate(limiter.drain());
  await clock.advanceAsync(0);
  controller.abort();
  await clock.advanceAsync(0);
  expect([call.state, drained.state]).toEqual(['failed', 'ok']);
});

it('a stream leaves a paused limiter, and `drain` resolves', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, telemetry: false, concurrency: 1 });
  limiter.pause();
  const stream = of(1)
    .pipe(limiter.throttle(async (n: number) => n))
    .subscribe();
  const drained = fate(limiter.drain());
  await clock.advanceAsync(0);
  stream.unsubscribe();
  await clock.advanceAsync(0);
  expect(drained.state).toBe('ok');
});

it('a teardown that throws at a timeout ends its request, and stops no other timeout', async () => {
  const thrown: unknown[] = [];
  config.onUnhandledError = (error) => thrown.push(error);
  const clock = new ManualClock();
  const broken = new Error('teardown');
  const limiter = createLimiter({ clock, attemptTimeoutMs: 100, failedAttempts: 1 });
  const breaking = () =>
    new Observable<never>(() => () => {
      throw broken;
    });
  const source = new Subject<number>();
  const seen = watch(source.pipe(limiter.throttle(breaking, { outcomes: true })));
  source.next(1);
  const others = [fate(limiter.run(never)), fate(limiter.run(never))];
  await clock.advanceAsync(1_000);
  expect(seen.values).toMatchObject([{ status: 'failed', error: expect.any(AttemptTimeoutError) }]);
  expect(others.map(({ state }) => state)).toEqual(['failed', 'failed']);
  await new Promise((done) => setTimeout(done));
  expect(thrown).toMatchObject([{ errors: [broken] }]);
  seen.subscription.unsubscribe();
  expectIdle(limiter);
});

it('a teardown that throws at a deadline ends its request', async () => {
  config.onUnhandledError = () => {};
  const clock = new ManualClock();
  const breaking = () =>
    new Observable<never>(() => () => {
      throw new Error('teardown');
    });
  const source = new Subject<number>();
  const seen = watch(source.pipe(throttle(breaking, { clock, deadlineMs: 100, outcomes: true })));
  source.next(1);
  await clock.advanceAsync(1_000);
  expect(seen.values).toMatchObject([{ error: { code: 'DEADLINE_EXCEEDED' } }]);
  await new Promise((done) => setTimeout(done));
});

it.each([
  [10, 40],
  [91, 92],
  [40, 31, 50],
])('requests of %i, %i bytes go one by one through a shared budget of 30', async (...sizes) => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, maxBytes: 30, shared: memoryStore({ clock }) });
  const work = () => new Promise<void>((done) => clock.setTimer(done, 50));
  const fates = sizes.map((bytes) => fate(limiter.run(work, { bytes })));
  await clock.advanceAsync(5_000);
  expect(fates.map(({ state }) => state)).toEqual(sizes.map(() => 'ok'));
  limiter.close();
});

it('calls with a time bound share one listener at a signal', async () => {
  const { clock, limiter } = rig({ concurrency: 1 });
  const { controller, signal, listeners } = countedSignal();
  const held = await limiter.acquire();
  const fates = Array.from({ length: 50 }, () =>
    fate(limiter.run(() => 1, { signal, timeoutMs: 60_000 })),
  );
  expect(listeners.size).toBe(1);
  controller.abort(new Error('enough'));
  await clock.advanceAsync(0);
  expect(fates.every(({ state }) => state === 'failed')).toBe(true);
  expect(listeners.size).toBe(0);
  held.release();
  expectIdle(limiter);
  expect(clock.pendingTimers).toBe(0);
});

it('a listener of waits reads a snapshot with the longest wait', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, concurrency: 1 });
  const waits: (number | undefined)[] = [];
  limiter.events$.subscribe(() => waits.push(limiter.snapshot().concurrency.longestWaitMs));
  const sleep = () => new Promise<void>((done) => clock.setTimer(done, 10));
  for (let n = 0; n < 4; n += 1) void limiter.run(sleep);
  await clock.advanceAsync(100);
  expect(waits.length).toBeGreaterThan(3);
  expect(waits.every((wait) => Number.isFinite(wait))).toBe(true);
  expect(Math.max(...(waits as number[]))).toBeGreaterThan(0);
});

it('the late end of a timed out attempt reads no further ahead', async () => {
  const clock = new ManualClock();
  const ends: ((value: number) => void)[] = [];
  let read = 0;
  function* source(): Generator<number> {
    for (; read < 1_000; read += 1) yield read;
  }
  const project = () => new Promise<number>((end) => ends.push(end));
  const options = { clock, concurrency: 2, attemptTimeoutMs: 1_000, failedAttempts: 100 } as const;
  const stream = throttleFrom(source(), project, {
    ...options,
    readAhead: 2,
    adaptive: false,
  }).subscribe();
  for (let n = 0; n < 10; n += 1) {
    await clock.advanceAsync(5_000);
    for (const end of ends.slice(0, -2)) end(1);
    await clock.advanceAsync(0);
  }
  expect(read).toBeLessThanOrEqual(2);
  stream.unsubscribe();
});

it.each([false, true])(
  'a request whose whole result was delivered has succeeded, though its stream ends there; ordered: %s',
  async (ordered) => {
    const { clock, limiter } = rig({ concurrency: 2 });
    const send = async (n: number) => n;
    for (let n = 0; n < 3; n += 1) {
      expect(await firstValueFrom(of(n).pipe(limiter.throttle(send, { ordered })))).toBe(n);
    }
    const five = range(0, 50).pipe(limiter.throttle(send, { ordered }), take(5), toArray());
    expect(await lastValueFrom(five)).toHaveLength(5);
    await clock.advanceAsync(0);
    expect(limiter.snapshot().ended).toMatchObject({ ok: 8, cancelled: 45 });
    const values = of(1).pipe(limiter.throttle(() => from([1, 2])));
    await firstValueFrom(values);
    expect(limiter.snapshot().ended).toMatchObject({ ok: 8, cancelled: 46 });
    expectIdle(limiter);
  },
);

it.each([false, 'latency', 'rate'] as const)(
  'with a store, what was learned ends as `adaptive` becomes %s, and requests go on',
  async (adaptive) => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 3, shared: memoryStore({ clock }) });
    let calls = 0;
    const first = fate(
      limiter.run(async () => {
        calls += 1;
        if (calls === 1) throw Object.assign(new Error('too many'), { status: 429 });
      }),
    );
    await clock.advanceAsync(60_000);
    expect(first.state).toBe('ok');
    limiter.configure({ adaptive });
    const others = Array.from({ length: 5 }, () => fate(limiter.run(async () => {})));
    await clock.advanceAsync(60_000);
    expect(others.map(({ state }) => state)).toEqual(Array(5).fill('ok'));
    limiter.close();
  },
);
