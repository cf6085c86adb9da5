import { beforeEach, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter, createLimiterGroup } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { Worker } from './rig.ts';
import { slowStore } from './slow-store.ts';

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

it('requests that get their bytes late get their rate with them, while others want their slots', async () => {
  const clock = new ManualClock(1_000);
  const shared = memoryStore({ clock });
  const limits = { requests: { limit: 20, windowMs: 1_000 } };
  const options = {
    clock,
    shared,
    adaptive: false,
    concurrency: 2,
    maxBytes: 100,
    limits,
  } as const;
  let ended = 0;
  for (let worker = 0; worker < 3; worker += 1) {
    const limiter = createLimiter(options);
    for (let request = 0; request < 6; request += 1) {
      const task = () => new Promise<void>((done) => clock.setTimer(done, 100 + 13 * worker));
      void limiter.run(task, { bytes: request === 0 ? 0 : 100 + 7 * worker }).then(() => {
        ended += 1;
      });
    }
  }
  await clock.advanceAsync(30_000);
  expect(ended).toBe(18);
});

it.each([30, 120, 150, 400])(
  'a group with calls of %i ms sends more than one request of a key',
  async (callMs) => {
    const clock = new ManualClock(1_000);
    const group = createLimiterGroup((key: string) => key, {
      clock,
      store: slowStore(memoryStore({ clock }), clock, callMs / 2),
      each: {
        adaptive: false,
        concurrency: 10,
        limits: { requests: { limit: 5, windowMs: 1_000 } },
      },
      shared: { concurrency: 10 },
    });
    let sent = 0;
    for (let request = 0; request < 4; request += 1) {
      void group.run('key', async () => {
        sent += 1;
      });
    }
    await clock.advanceAsync(10_000);
    expect(sent).toBe(4);
    group.close();
  },
);

it('an idle fleet that met rejections calls the store only to keep its leader', async () => {
  const clock = new ManualClock(1_000);
  const store = memoryStore({ clock });
  let calls = 0;
  const shared: typeof store = {
    ...store,
    exchange: (request) => {
      calls += 1;
      return store.exchange(structuredClone(request));
    },
  };
  const limiter = createLimiter({ clock, shared, concurrency: 1, deadlineMs: 1_500 });
  const headers = { 'retry-after': '2' };
  for (let request = 0; request < 2; request += 1) {
    const rejected = async () => {
      throw Object.assign(new Error('429'), { status: 429, headers });
    };
    limiter.run(rejected).catch(() => {});
  }
  await clock.advanceAsync(60_000);
  calls = 0;
  await clock.advanceAsync(60_000);
  // Four calls in each time after which a lease ends (5 s).
  expect(calls).toBe(48);
  limiter.close();
});

it.each([0, 3, 50])(
  'a request goes alone whose weight exceeds a limit that arrives %i ms after lost answers',
  async (laterMs) => {
    const clock = new ManualClock();
    const store = memoryStore({ clock, ttlMs: 1_000 });
    const workers = [0, 1, 2].map(() => new Worker(store, clock, { concurrency: 2 }));
    const [one, other] = workers as [Worker, Worker];
    for (const worker of workers) worker.way = 'deaf';
    one.send(1, 0);
    await clock.advanceAsync(1);
    one.limiter.configure({ concurrency: 1 });
    let isDone = false;
    void other.limiter
      .run(async () => {}, { weight: 2 })
      .then(() => {
        isDone = true;
      });
    await clock.advanceAsync(4_000 + laterMs);
    for (const worker of workers) worker.way = 'open';
    await clock.advanceAsync(30_000);
    expect(isDone).toBe(true);
  },
);
