import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeReply, ExchangeRequest } from '../../src/fleet/protocol.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { Worker } from './rig.ts';

/** A store in whose answers take a time. */
function slow(clock: ManualClock, ms: number): SharedStore {
  const store = memoryStore({ clock });
  return {
    ...store,
    exchange: (request: ExchangeRequest) =>
      new Promise<ExchangeReply>((resolve) => {
        clock.setTimer(() => {
          const reply = store.exchange(request) as ExchangeReply;
          clock.setTimer(() => resolve(reply), ms / 2);
        }, ms / 2);
      }),
  };
}

it('limits that are changed while a call is under way are told with the next one', async () => {
  for (let at = 0; at < 120; at += 7) {
    const clock = new ManualClock();
    const store = slow(clock, 40);
    const worker = new Worker(store, clock, { requestsPerMinute: 600 });
    worker.send(10_000, 10);
    await clock.advanceAsync(5_000 + at);
    worker.limiter.configure({ requestsPerMinute: 60 });
    await clock.advanceAsync(1_000);
    const before = worker.sends.length;
    await clock.advanceAsync(60_000);
    expect(worker.sends.length - before, `changed at ${at} ms`).toBeLessThanOrEqual(61);
    worker.limiter.configure({ requestsPerMinute: 6_000 });
    await clock.advanceAsync(10_000);
    expect(worker.sends.length, `raised at ${at} ms`).toBeGreaterThan(900);
  }
});

it('limits that a worker is given hold, though it began with the same', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const old = new Worker(store, clock, { requestsPerMinute: 600 });
  old.send(10_000, 10);
  await clock.advanceAsync(1_000);
  const young = new Worker(store, clock, { requestsPerMinute: 60 });
  young.send(1, 10);
  await clock.advanceAsync(2_000);
  const sentIn = async (ms: number) => {
    const before = old.sends.length;
    await clock.advanceAsync(ms);
    return old.sends.length - before;
  };
  // What is no limit of all leaves theirs in force.
  old.limiter.configure({ waitTimeoutMs: 3_600_000 });
  expect(await sentIn(60_000)).toBeLessThanOrEqual(61);
  old.limiter.configure({ requestsPerMinute: 600 });
  expect(await sentIn(60_000)).toBeGreaterThan(580);
});

it.each(['rate', false] as const)(
  'a change of adaptive to %j leaves the limits of another in force',
  async (adaptive) => {
    const clock = new ManualClock();
    const shared = memoryStore({ clock });
    const options = { clock, shared, concurrency: 4 };
    const [changed, other] = [
      createLimiter({ ...options, adaptive: adaptive === false ? 'rate' : false }),
      createLimiter({ ...options, adaptive: false }),
    ];
    await Promise.all([changed.run(() => 1), other.run(() => 2)]);
    other.configure({ concurrency: 1 });
    await clock.advanceAsync(1_000);
    changed.configure({ adaptive });
    await clock.advanceAsync(10_000);
    let inFlight = 0;
    let most = 0;
    const task = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise<void>((resolve) => clock.setTimer(resolve, 100));
      inFlight -= 1;
    };
    const done = Promise.all([changed, other, changed, other].map((each) => each.run(task)));
    await clock.advanceAsync(10_000);
    await done;
    expect(most).toBe(1);
  },
);

it('limits that are changed while the store is away hold for the share of a worker', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock, onStoreLoss: 'share' });
  const worker = new Worker(store, clock, { requestsPerMinute: 600 });
  worker.send(10_000, 10);
  await clock.advanceAsync(1_000);
  worker.way = 'cut';
  await clock.advanceAsync(10_000);
  worker.limiter.configure({
    limits: { images: { limit: 3, windowMs: 1_000 } },
    requestsPerMinute: 6_000,
  });
  const before = worker.sends.length;
  await clock.advanceAsync(10_000);
  expect(worker.sends.length - before).toBeGreaterThan(900);
  worker.way = 'open';
  await clock.advanceAsync(10_000);
  expect(worker.sends.length - before).toBeGreaterThan(1_700);
});

it.each([
  { adaptive: { strategy: 'rate', initialLimit: 2 } },
  { adaptive: 'latency' },
  { adaptive: false },
] as const)('attempts in flight end for all after a change to %j', async (change) => {
  const clock = new ManualClock();
  const shared = memoryStore({ clock });
  const adaptive = { strategy: 'rate', initialLimit: 1 } as const;
  const options = { clock, shared, concurrency: 4, adaptive };
  const [leader, changed] = [createLimiter(options), createLimiter(options)];
  const takes = (ms: number) => () =>
    new Promise((resolve) => clock.setTimer(() => resolve(undefined), ms));
  const done: string[] = [];
  const send = (limiter: typeof leader, name: string, ms: number) => {
    void limiter.run(takes(ms)).then(() => done.push(name));
  };
  // A failed attempt teaches nothing: the next one must be answered before another is sent.
  void leader.run(() => Promise.reject(new Error('no answer'))).catch(() => {});
  await clock.advanceAsync(1_000);
  send(changed, 'in flight', 2_000);
  await clock.advanceAsync(1_000);
  changed.configure(change);
  for (let index = 0; index < 3; index += 1) send(changed, 'changed', 100);
  send(leader, 'later', 100);
  await clock.advanceAsync(60_000);
  expect(done.sort()).toEqual(['changed', 'changed', 'changed', 'in flight', 'later']);
});
