import { expect, it } from 'vitest';
import type { Instrumentation } from '../../../src/advanced.ts';
import { createLimiter, type LimiterEvent } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';

function waitsOf(limiter: ReturnType<typeof createLimiter>) {
  const told: LimiterEvent[] = [];
  limiter.events$.subscribe((event) => {
    if (event.kind === 'waiting') told.push(event);
  });
  return told;
}

it('the event of a wait has the limit, the position, the number of waiting requests, and its end', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, limits: { requests: { limit: 1, windowMs: 60_000 } } });
  const told = waitsOf(limiter);
  await clock.advanceAsync(5);
  for (let n = 0; n < 3; n += 1) void limiter.run(() => n);
  const common = { kind: 'waiting', level: 'debug', at: 5, gate: 'rateLimit', limit: 'requests' };
  expect(told).toEqual([
    { ...common, position: 1, waiting: 1, untilAt: 60_005 },
    { ...common, position: 2, waiting: 2, untilAt: 60_005 },
  ]);
});

it('a wait for a slot has no end, and a request of higher priority is the first', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, concurrency: 1 });
  const told = waitsOf(limiter);
  const sleep = () => new Promise<void>((resolve) => clock.setTimer(resolve, 10));
  void limiter.run(sleep);
  void limiter.run(sleep);
  void limiter.run(sleep, { priority: 1 });
  expect(told).toEqual([
    { kind: 'waiting', level: 'debug', at: 0, gate: 'concurrency', position: 1, waiting: 1 },
    { kind: 'waiting', level: 'debug', at: 0, gate: 'concurrency', position: 1, waiting: 2 },
  ]);
  await clock.advanceAsync(100);
});

it('the hook `queued` gets each request that has to wait, and the gate, when its wait begins', async () => {
  const clock = new ManualClock();
  const queued: unknown[] = [];
  const instrumentation: Instrumentation = {
    queued: ({ bytes }, gate) => queued.push([clock.now(), bytes, gate]),
  };
  const limits = { requests: { limit: 3, windowMs: 60_000 } };
  const limiter = createLimiter({ clock, concurrency: 1, limits, instrumentation });
  const sleep = () => new Promise<void>((resolve) => clock.setTimer(resolve, 10));
  void limiter.run(sleep, { bytes: 1 });
  void limiter.run(sleep, { bytes: 2 });
  void limiter.run(sleep, { bytes: 3 });
  expect(queued).toEqual([
    [0, 2, 'concurrency'],
    [0, 3, 'concurrency'],
  ]);
  await clock.advanceAsync(30);
  void limiter.run(sleep, { bytes: 4 });
  expect(queued.slice(2)).toEqual([[30, 4, 'rateLimit']]);
  await clock.advanceAsync(60_100);
});

it('a request that need not wait begins no wait', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock });
  const told = waitsOf(limiter);
  await limiter.run(() => 1);
  expect(told).toEqual([]);
});
