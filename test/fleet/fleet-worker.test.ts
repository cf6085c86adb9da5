import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { keepWarnings } from '../support/warnings.ts';
import { jain, mostInWindow, Worker } from './rig.ts';

function fleet(count: number, options: ConstructorParameters<typeof Worker>[2], ttlMs = 1_000) {
  const clock = new ManualClock();
  const store = memoryStore({ clock, ttlMs });
  const workers = Array.from({ length: count }, () => new Worker(store, clock, options));
  return { clock, store, workers };
}

const warnings = keepWarnings();

describe('workers that share a store', () => {
  it.each([1, 2, 8])('keep a limit together, and fill it: %i of them', async (count) => {
    const { clock, workers } = fleet(count, { requestsPerMinute: 6_000 });
    for (const worker of workers) worker.send(20_000 / count, 100);
    await clock.advanceAsync(120_000);
    expect(mostInWindow(workers, 60_000)).toBeLessThanOrEqual(6_000);
    const sent = workers.map(({ sends }) => sends.length);
    expect(sent.reduce((a, b) => a + b, 0)).toBeGreaterThan(2 * 6_000 * 0.98);
    expect(jain(sent)).toBeGreaterThan(0.99);
  });

  it('share slots fairly, and lend the share of one that is idle to others within 200 ms', async () => {
    const { clock, workers } = fleet(4, { concurrency: 40 });
    for (const worker of workers) worker.send(500, 50);
    let most = 0;
    for (let step = 0; step < 200; step += 1) {
      await clock.advanceAsync(5);
      most = Math.max(
        most,
        workers.reduce((sum, { inFlight }) => sum + inFlight, 0),
      );
    }
    expect(most).toBe(40);
    expect(jain(workers.map(({ sends }) => sends.length))).toBeGreaterThan(0.95);
    await clock.advanceAsync(20_000);
    const [first, second] = workers as [Worker, Worker];
    first.send(1_000, 50);
    second.send(1_000, 50);
    await clock.advanceAsync(1_000);
    second.limiter.clear();
    await clock.advanceAsync(200);
    expect(first.inFlight).toBe(40);
  });

  it('get the share of one that is paused, which takes it back as it goes on', async () => {
    const clock = new ManualClock();
    const store = memoryStore({ clock });
    const [one, other] = [0, 1].map(() => new Worker(store, clock, { concurrency: 4 })) as [
      Worker,
      Worker,
    ];
    for (const worker of [one, other]) worker.send(10_000, 100);
    await clock.advanceAsync(1_000);
    one.limiter.pause();
    await clock.advanceAsync(1_000);
    expect([one.inFlight, other.inFlight]).toEqual([0, 4]);
    const { calls } = one;
    await clock.advanceAsync(10_000);
    expect(one.calls - calls).toBeLessThan(10);
    one.limiter.resume();
    await clock.advanceAsync(1_000);
    expect([one.inFlight, other.inFlight]).toEqual([2, 2]);
    for (const { limiter } of [one, other]) limiter.close();
  });

  it('give a newcomer its share of slots that one worker had alone', async () => {
    const { clock, workers } = fleet(2, { concurrency: 20 });
    const [first, second] = workers as [Worker, Worker];
    first.send(10_000, 100);
    await clock.advanceAsync(1_000);
    expect(first.inFlight).toBe(20);
    second.send(10_000, 100);
    await clock.advanceAsync(1_000);
    expect(first.inFlight + second.inFlight).toBeGreaterThanOrEqual(19);
    expect(Math.abs(first.inFlight - second.inFlight)).toBeLessThanOrEqual(1);
  });

  it('give back slots that were lent, when there are fewer', async () => {
    const { clock, workers } = fleet(2, { concurrency: 40 });
    for (const worker of workers) worker.send(5_000, 200);
    await clock.advanceAsync(1_000);
    const inFlight = () => workers.reduce((sum, worker) => sum + worker.inFlight, 0);
    expect(inFlight()).toBe(40);
    workers[0]?.limiter.configure({ concurrency: 4 });
    await clock.advanceAsync(1_000);
    expect(inFlight()).toBe(4);
    expect(workers.map((worker) => worker.inFlight)).toEqual([2, 2]);
    workers[0]?.limiter.configure({ concurrency: 20 });
    await clock.advanceAsync(1_000);
    expect(inFlight()).toBe(20);
  });

  it('starve nobody, though those that have slots always have just enough of them', async () => {
    const { clock, workers } = fleet(4, { concurrency: 12 });
    /** It sends the next request as one ends, and lets none wait beyond what it can hold. */
    const keepBusy = (worker: Worker) => {
      for (let lane = 0; lane < 6; lane += 1) {
        const next = () => worker.send(1, 50, 1, next);
        next();
      }
    };
    for (const worker of workers.slice(0, 2)) keepBusy(worker);
    await clock.advanceAsync(1_000);
    for (const worker of workers.slice(2)) keepBusy(worker);
    await clock.advanceAsync(500);
    const before = workers.map(({ sends }) => sends.length);
    await clock.advanceAsync(5_000);
    const sent = workers.map(({ sends }, index) => sends.length - (before[index] as number));
    expect(jain(sent)).toBeGreaterThan(0.95);
    expect(sent.reduce((a, b) => a + b, 0)).toBeGreaterThan(12 * 100 * 0.95);
  });

  it('hand a slot that both want from one to the other within 13 ms, on average', async () => {
    const { clock, workers } = fleet(2, { concurrency: 1 });
    workers[0]?.send(40, 193);
    workers[1]?.send(40, 217);
    await clock.advanceAsync(40 * (193 + 217) + 79 * 13);
    expect(workers.map(({ sends }) => sends.length)).toEqual([40, 40]);
  });

  it('get the slots of one that has vanished back within two TTL, and no more than all', async () => {
    const { clock, workers } = fleet(2, { concurrency: 10 });
    const [first, second] = workers as [Worker, Worker];
    first.send(10, 600_000);
    await clock.advanceAsync(500);
    first.way = 'cut';
    second.send(10, 600_000);
    await clock.advanceAsync(400);
    expect(second.inFlight).toBe(0);
    await clock.advanceAsync(1_600);
    expect(second.inFlight).toBe(10);
    first.way = 'open';
    await clock.advanceAsync(1_000);
    second.send(1, 1);
    await clock.advanceAsync(1_000);
    expect(second.inFlight).toBe(10);
    expect(first.limiter.snapshot().fleet?.lostLeases).toBe(1);
  });

  it('loses nothing when its lease ends while it is idle', async () => {
    const { clock, workers } = fleet(2, { concurrency: 10 });
    const [busy, idle] = workers as [Worker, Worker];
    const lost: string[] = [];
    idle.limiter.events$.subscribe(({ kind }) => kind === 'leaseLost' && lost.push(kind));
    const next = () => busy.send(1, 100, 1, next);
    next();
    for (let round = 0; round < 4; round += 1) {
      idle.send(3, 100);
      await clock.advanceAsync(10_000);
    }
    expect(idle.sends).toHaveLength(12);
    expect(idle.limiter.snapshot().fleet?.lostLeases).toBe(0);
    expect(lost).toEqual([]);
  });

  it('does not use what was taken away while it slept', async () => {
    const { clock, workers } = fleet(2, { concurrency: 10 });
    const [first, second] = workers as [Worker, Worker];
    first.send(10, 100);
    await clock.advanceAsync(20);
    first.way = 'cut';
    await clock.advanceAsync(5_000);
    second.send(100, 600_000);
    await clock.advanceAsync(500);
    expect(second.inFlight).toBe(10);
    first.send(10, 100);
    await clock.advanceAsync(5_000);
    expect(first.inFlight).toBe(0);
    first.way = 'open';
    await clock.advanceAsync(2_000);
    expect(first.inFlight).toBe(0);
  });

  it('uses nothing that it told to hold before a store forgot it', async () => {
    const { clock, workers } = fleet(2, { concurrency: 10 });
    const [first, second] = workers as [Worker, Worker];
    first.send(10, 700);
    await clock.advanceAsync(20);
    // Its next call tells of ten slots, and is repeated until the store is back.
    first.way = 'cut';
    first.send(100, 600_000);
    await clock.advanceAsync(5_000);
    expect(first.inFlight).toBe(0);
    second.send(10, 600_000);
    await clock.advanceAsync(1_000);
    expect(second.inFlight).toBe(10);
    first.way = 'open';
    await clock.advanceAsync(3_000);
    expect(first.inFlight).toBe(0);
  });

  /** The first worker has ten requests in flight, but the second one has the slots by now. */
  async function lostLease(tookMs: number) {
    const { clock, workers } = fleet(2, { concurrency: 10 });
    const [first, second] = workers as [Worker, Worker];
    first.send(10, 2_000);
    await clock.advanceAsync(20);
    first.way = 'cut';
    first.send(100, 100);
    second.send(100, tookMs);
    await clock.advanceAsync(1_500);
    expect([first.inFlight, second.inFlight]).toEqual([10, 10]);
    return { clock, first, second };
  }

  it('sends nothing in the slots of requests that end after its lease', async () => {
    const { clock, first } = await lostLease(600_000);
    await clock.advanceAsync(3_000);
    expect(first.inFlight).toBe(0);
    expect(first.sends).toHaveLength(10);
  });

  it('gives up the slots of its lost lease as their requests end, once it calls again', async () => {
    const { clock, first, second } = await lostLease(2_000);
    // It states the requests that it still has in flight: the store counts them, but they end.
    first.way = 'open';
    await clock.advanceAsync(300);
    expect(first.inFlight).toBe(10);
    await clock.advanceAsync(700);
    expect([first.inFlight, second.inFlight]).toEqual([0, 10]);
    await clock.advanceAsync(1_000);
    expect([first.inFlight, second.inFlight]).toEqual([5, 5]);
  });

  it('lose nothing with an answer, and are granted once', async () => {
    const { clock, workers } = fleet(2, { requestsPerMinute: 600 });
    for (const worker of workers) worker.send(1_000, 100);
    for (let step = 0; step < 60; step += 1) {
      (workers[step % 2] as Worker).way = step % 3 === 0 ? 'deaf' : 'open';
      await clock.advanceAsync(1_000);
    }
    const sent = workers.map(({ sends }) => sends.length);
    expect(mostInWindow(workers, 60_000)).toBeLessThanOrEqual(600);
    expect(sent[0]).toBeGreaterThan(150);
    expect(sent[1]).toBeGreaterThan(150);
  });

  it('do not starve a heavy request among light ones', async () => {
    const { clock, workers } = fleet(2, {
      limits: { tokens: { limit: 60_000, windowMs: 60_000 } },
    });
    const [heavy, light] = workers as [Worker, Worker];
    light.send(10_000, 10, 100);
    await clock.advanceAsync(5_000);
    heavy.send(1, 10, 20_000);
    await clock.advanceAsync(25_000);
    expect(heavy.sends).toHaveLength(1);
    expect(mostInWindow(workers, 60_000)).toBeLessThanOrEqual(60_000);
  });

  it('hold back together after a 429 of one of them', async () => {
    const { clock, workers } = fleet(2, { backoff: { backoffMs: 5_000 }, concurrency: 4 });
    const [first, second] = workers as [Worker, Worker];
    second.send(1, 10);
    await clock.advanceAsync(100);
    first.limiter.feedback.next({ kind: 'throttled', retryAfterMs: 5_000 });
    await clock.advanceAsync(100);
    second.send(1, 10);
    await clock.advanceAsync(4_000);
    expect(second.sends).toHaveLength(1);
    expect(second.limiter.snapshot()).toMatchObject({ binding: 'backoff', mode: 'throttled' });
    await clock.advanceAsync(2_000);
    expect(second.sends).toHaveLength(2);
  });

  it('take the newest limits, and tell of it', async () => {
    const { clock, store, workers } = fleet(1, { requestsPerMinute: 600 });
    const [old] = workers as [Worker];
    const events: string[] = [];
    old.limiter.events$.subscribe(({ kind }) => events.push(kind));
    old.send(10_000, 10);
    await clock.advanceAsync(1_000);
    const young = new Worker(store, clock, { requestsPerMinute: 60 });
    young.send(1, 10);
    await clock.advanceAsync(2_000);
    expect(events).toContain('sharedLimitsChanged');
    const before = old.sends.length + young.sends.length;
    await clock.advanceAsync(60_000);
    expect(old.sends.length + young.sends.length - before).toBeLessThanOrEqual(61);
    old.limiter.configure({ requestsPerMinute: 6_000 });
    await clock.advanceAsync(10_000);
    expect(old.sends.length).toBeGreaterThan(900);
  });

  it('settle tokens to what was used', async () => {
    const { clock, workers } = fleet(1, { tokensPerMinute: 6_000 });
    const { limiter } = workers[0] as Worker;
    let ended = 0;
    for (let request = 0; request < 100; request += 1) {
      const use = async () => {
        const lease = await limiter.acquire({ tokens: 600 });
        lease.recordTokens(60);
        lease.release();
        ended += 1;
      };
      void use();
    }
    await clock.advanceAsync(60_000);
    // By the estimates only ten would have been sent.
    expect(ended).toBeGreaterThan(80);
  });
});

describe('a worker whose store is away', () => {
  it('sends nothing, warns once each way, and goes on within a second', async () => {
    const { clock, workers } = fleet(1, { requestsPerMinute: 6_000 });
    const [worker] = workers as [Worker];
    const events: string[] = [];
    worker.limiter.events$.subscribe(({ kind, level }) => {
      if (level === 'warn') events.push(kind);
    });
    worker.send(10_000, 10);
    await clock.advanceAsync(2_000);
    worker.way = 'cut';
    await clock.advanceAsync(1_000);
    const before = worker.sends.length;
    await clock.advanceAsync(10_000);
    expect(worker.sends).toHaveLength(before);
    expect(worker.limiter.snapshot()).toMatchObject({ binding: 'shared', fleet: { isAway: true } });
    worker.way = 'open';
    await clock.advanceAsync(1_000);
    expect(worker.sends.length).toBeGreaterThan(before);
    expect(worker.limiter.snapshot().fleet?.isAway).toBe(false);
    expect(events.filter((kind) => kind.startsWith('store'))).toEqual(['storeLost', 'storeBack']);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('nothing is sent until it answers: the way to the store is cut');
  });

  it('goes on with its share, if it is told to', async () => {
    const clock = new ManualClock();
    const store = memoryStore({ clock, onStoreLoss: 'share' });
    const workers = [1, 2].map(() => new Worker(store, clock, { requestsPerMinute: 600 }));
    for (const worker of workers) worker.send(1_000, 10);
    await clock.advanceAsync(10_000);
    for (const worker of workers) worker.way = 'cut';
    await clock.advanceAsync(60_000);
    for (const worker of workers) worker.way = 'open';
    await clock.advanceAsync(10_000);
    expect(mostInWindow(workers, 60_000)).toBeLessThanOrEqual(606);
    expect(workers.reduce((sum, { sends }) => sum + sends.length, 0)).toBeGreaterThan(750);
  });
});

describe('a store that has forgotten all', () => {
  it('keeps the share of a worker that comes back late, until its lease would have ended', async () => {
    const clock = new ManualClock();
    const settings = { clock, onStoreLoss: 'share', ttlMs: 5_000 } as const;
    let current = memoryStore(settings);
    const shared = {
      ...current,
      exchange: (request: ExchangeRequest) => current.exchange(request),
    };
    const workers = [1, 2, 3, 4].map(() => new Worker(shared, clock, { concurrency: 12 }));
    for (const worker of workers) worker.send(10_000, 50);
    const inFlight = async (ms: number) => {
      let most = 0;
      for (let at = 0; at < ms; at += 5) {
        await clock.advanceAsync(5);
        most = Math.max(
          most,
          workers.reduce((sum, worker) => sum + worker.inFlight, 0),
        );
      }
      return most;
    };
    expect(await inFlight(2_000)).toBe(12);
    for (const worker of workers) worker.way = 'cut';
    expect(await inFlight(8_000)).toBe(12);
    current = memoryStore(settings);
    for (const worker of workers.slice(1)) worker.way = 'open';
    expect(await inFlight(4_000)).toBe(12);
    const late = workers[0] as Worker;
    expect(late.inFlight).toBe(3);
    late.way = 'open';
    expect(await inFlight(4_000)).toBe(12);
    // One that never comes back has its share kept no longer than a lease.
    for (const worker of workers) worker.way = 'cut';
    await clock.advanceAsync(2_000);
    current = memoryStore(settings);
    late.limiter.clear();
    await clock.advanceAsync(100);
    for (const worker of workers.slice(1)) worker.way = 'open';
    expect(await inFlight(4_000)).toBe(9);
    expect(await inFlight(4_000)).toBe(12);
  });
});

describe('a limiter without others', () => {
  it('is asked nothing while it is idle, and keeps nothing', async () => {
    const { clock, workers } = fleet(1, { concurrency: 5 });
    const [worker] = workers as [Worker];
    worker.send(3, 10);
    await clock.advanceAsync(1_000);
    const { calls } = worker;
    await clock.advanceAsync(60_000);
    expect(worker.calls).toBe(calls);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives back what it holds as it is closed', async () => {
    const { clock, workers } = fleet(2, { concurrency: 5 });
    const [first, second] = workers as [Worker, Worker];
    first.send(5, 10);
    await clock.advanceAsync(10);
    first.limiter.close();
    await first.limiter.drain();
    second.send(5, 1_000);
    await clock.advanceAsync(50);
    expect(second.inFlight).toBe(5);
    expect(second.limiter.snapshot().fleet?.workers).toBe(1);
  });

  it('refuses what cannot be shared', () => {
    const shared = memoryStore();
    expect(() => createLimiter({ shared, onLimit: 'fail', requestsPerMinute: 1 })).toThrow(
      "`onLimit` must be 'wait' with `shared`",
    );
    expect(() => createLimiter({ shared: {} as never })).toThrow('`shared.exchange` must be');
    const limits = { calls: { limit: 5, windowMs: Number.POSITIVE_INFINITY } };
    expect(() => createLimiter({ shared, limits })).toThrow(
      '`limits.calls.windowMs` must be finite',
    );
    const half = { 'half \ud800': { limit: 5, windowMs: 1_000 } };
    expect(() => createLimiter({ shared, limits: half })).toThrow(
      'the name of a limit must be well-formed text with `shared`, got "half \\ud800"',
    );
    expect(() => createLimiter({ shared, tokensPerMinute: 1e300 })).toThrow(
      '`limits.tokens.limit` must be a number from 1 to 9007199254740991, got 1e+300',
    );
    const burst = { limit: 5, windowMs: 1_000, algorithm: 'token-bucket', burst: 1e300 } as const;
    expect(() => createLimiter({ shared, limits: { calls: burst } })).toThrow(
      '`limits.calls.burst` must be a number from 1 to 9007199254740991, got 1e+300',
    );
    expect(() => memoryStore({ ttlMs: 1 })).toThrow('`ttlMs` must be an integer >= 100, got 1');
  });

  it('keeps its limits where it refuses a change', async () => {
    const limiter = createLimiter({ shared: memoryStore(), requestsPerMinute: 6_000 });
    const quota = { limit: 5, windowMs: Number.POSITIVE_INFINITY };
    const before = limiter.snapshot();
    const changes = { concurrency: 7, requestsPerMinute: 60, limits: { quota } };
    expect(() => limiter.configure(changes)).toThrow('`limits.quota.windowMs` must be finite');
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: before.concurrency.limit },
      rateLimit: { requests: { limit: 6_000 } },
    });
    expect(Object.keys(limiter.snapshot().rateLimit ?? {})).toEqual(['requests']);
    limiter.configure({ requestsPerMinute: 600 });
    expect(limiter.snapshot().rateLimit).toMatchObject({ requests: { limit: 600 } });
  });
});

describe('a store that begins anew', () => {
  /** A store that can lose everything, as Redis without its data. */
  function forgetful(clock: ManualClock) {
    let store = memoryStore({ clock, ttlMs: 1_000 });
    return {
      shared: { ...store, exchange: (request: ExchangeRequest) => store.exchange(request) },
      forget: () => {
        store = memoryStore({ clock, ttlMs: 1_000 });
      },
    };
  }

  it('is asked for no rate that slots hold back, and keeps the limit', async () => {
    const clock = new ManualClock();
    const { shared, forget } = forgetful(clock);
    const limits = { requests: { limit: 5_000, windowMs: 5_000 } };
    const workers = [1, 2].map(() => new Worker(shared, clock, { limits }));
    for (const worker of workers) worker.send(10_000, 300);
    await clock.advanceAsync(6_000);
    for (const worker of workers) worker.way = 'cut';
    await clock.advanceAsync(1_500);
    forget();
    for (const worker of workers) worker.way = 'open';
    await clock.advanceAsync(6_000);
    expect(mostInWindow(workers, 5_000)).toBeLessThanOrEqual(5_000);
  });

  it('gets nothing back of requests that it had charged before', async () => {
    const clock = new ManualClock();
    const { shared, forget } = forgetful(clock);
    const limits = { tokens: { limit: 1_000, windowMs: 1_000, charge: 'settle' as const } };
    const limiter = createLimiter({ adaptive: false, clock, shared, limits });
    const sent: { at: number; cost: number }[] = [];
    const run = (tookMs: number, tokens: number) =>
      limiter.run(
        async (context) => {
          sent.push({ at: clock.now(), cost: 1 });
          await new Promise<void>((done) => clock.setTimer(done, tookMs));
          context.recordTokens(1);
        },
        { tokens },
      );
    const first = run(5_000, 500);
    await clock.advanceAsync(4_000);
    forget();
    await clock.advanceAsync(500);
    const many = Array.from({ length: 400 }, () => run(1, 1));
    await clock.advanceAsync(2_000);
    await Promise.all([first, ...many]);
    // The bucket holds a hundredth of the limit, and what flows in: the 499 are not there.
    const around = sent.filter(({ at }) => at >= 4_990 && at < 5_090).length;
    expect(around).toBeLessThanOrEqual(130);
  });
});
