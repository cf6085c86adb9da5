import { context, trace } from '@opentelemetry/api';
import { memoryStore } from 'headgate/advanced';
import { ManualClock } from 'headgate/simulator';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter, createLimiterGroup } from '../../src/index.ts';
import { type Sdk, startSdk } from './sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  sdk = startSdk();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sdk.stop();
});

const OK = { 'headgate.outcome': 'ok' };
const FAILED = { 'headgate.outcome': 'failed' };

/** A store that can be cut off. */
function cuttable(clock: ManualClock, onStoreLoss: 'pause' | 'share') {
  const store = memoryStore({ clock, ttlMs: 1_000, onStoreLoss });
  const way = { isCut: false };
  const shared: SharedStore = {
    ...store,
    exchange: (request: ExchangeRequest) => {
      if (way.isCut) throw new Error('the way is cut');
      return store.exchange(request);
    },
  };
  return { way, shared, store };
}

it('calls the store outside of any request, whose context stays its own', async () => {
  const clock = new ManualClock();
  const { store } = cuttable(clock, 'pause');
  const callers: unknown[] = [];
  const shared: SharedStore = {
    ...store,
    exchange: async (request: ExchangeRequest) => {
      callers.push(trace.getSpan(context.active()));
      return store.exchange(request);
    },
  };
  const limiter = createLimiter({ clock, shared, concurrency: 1 });
  const seen: unknown[] = [];
  const requests = ['a', 'b'].map((name) => {
    const caller = sdk.tracer.startSpan(name);
    return context.with(trace.setSpan(context.active(), caller), () =>
      limiter.run(async () => {
        seen.push(trace.getSpanContext(context.active())?.traceId === caller.spanContext().traceId);
      }),
    );
  });
  await clock.advanceAsync(1_000);
  await Promise.all(requests);
  limiter.close();
  expect(seen).toEqual([true, true]);
  expect(callers.length).toBeGreaterThan(0);
  expect(callers.filter((caller) => caller !== undefined)).toEqual([]);
});

it('tells the share of a worker, how many there are, and what the store was asked', async () => {
  const clock = new ManualClock();
  const { shared } = cuttable(clock, 'pause');
  const options = { clock, shared, adaptive: false, concurrency: 2 } as const;
  const one = createLimiter({ ...options, name: 'one' });
  const two = createLimiter({ ...options, name: 'two' });
  for (const limiter of [one, two]) {
    for (let request = 0; request < 5; request += 1) {
      void limiter.run(() => new Promise((done) => clock.setTimer(() => done(1), 50)));
    }
  }
  await clock.advanceAsync(80);
  const now = await sdk.collect();
  expect(now.value('headgate.fleet.workers', {}, 'one')).toBe(2);
  expect(now.value('headgate.fleet.share', {}, 'one')).toBe(0.5);
  expect(now.value('headgate.store.calls', OK, 'one')).toBe(one.snapshot().fleet?.calls);
  expect(now.value('headgate.store.calls', FAILED, 'one')).toBe(0);
  expect(now.value('headgate.store.lost_leases', {}, 'one')).toBe(0);
  expect(now.value('headgate.fleet.handovers', {}, 'one')).toBe(0);
  expect(now.value('headgate.store.away', { 'headgate.meanwhile': 'pause' }, 'one')).toBe(0);
});

it.each(['pause', 'share'] as const)('tells that the store is away: %s', async (onStoreLoss) => {
  const clock = new ManualClock();
  const { way, shared } = cuttable(clock, onStoreLoss);
  const limiter = createLimiter({ clock, shared, adaptive: false, name: 'away' });
  await limiter.run(async () => 1);
  way.isCut = true;
  const waits = limiter.run(() => new Promise((done) => clock.setTimer(() => done(1), 10)));
  const more = Array.from({ length: 500 }, () => limiter.run(async () => 1));
  await clock.advanceAsync(800);
  const meanwhile = { 'headgate.meanwhile': onStoreLoss };
  const now = await sdk.collect();
  expect(now.value('headgate.store.away', meanwhile, 'away')).toBe(1);
  expect(now.value('headgate.store.calls', FAILED, 'away')).toBeGreaterThan(1);
  way.isCut = false;
  await clock.advanceAsync(5_000);
  await Promise.all([waits, ...more]);
  const later = await sdk.collect();
  expect(later.value('headgate.store.away', meanwhile, 'away')).toBe(0);
});

it('counts leases that were lost', async () => {
  const clock = new ManualClock();
  const { way, shared, store } = cuttable(clock, 'pause');
  const options = { clock, adaptive: false, concurrency: 1 } as const;
  const limiter = createLimiter({ ...options, shared, name: 'lost' });
  const other = createLimiter({ ...options, shared: store, name: 'other' });
  const slow = limiter.run(() => new Promise((done) => clock.setTimer(() => done(1), 4_000)));
  await clock.advanceAsync(10);
  const next = limiter.run(async () => 2);
  // It asks again and again, so that the store sees the time pass.
  const others = other.run(async () => 3);
  way.isCut = true;
  await clock.advanceAsync(3_000);
  way.isCut = false;
  await clock.advanceAsync(6_000);
  await Promise.all([slow, next, others]);
  const now = await sdk.collect();
  expect(now.value('headgate.store.lost_leases', {}, 'lost')).toBe(1);
});

it('tells no rate in a worker while nothing bounds it', async () => {
  const clock = new ManualClock();
  const { shared } = cuttable(clock, 'pause');
  const options = { clock, shared, concurrency: 10, requestsPerMinute: 3_000 };
  const workers = ['leads', 'follows'].map((name) => createLimiter({ ...options, name }));
  const sleep = () => new Promise<void>((done) => clock.setTimer(done, 40));
  for (let second = 0; second < 4; second += 1) {
    for (const limiter of workers) void limiter.run(sleep);
    await clock.advanceAsync(1_000);
    const points = (await sdk.collect()).points('headgate.rate.target');
    expect(points.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
    for (const { adaptive } of workers.map((limiter) => limiter.snapshot())) {
      const { perSecond, origin } = adaptive as { perSecond: number; origin: string };
      expect(Number.isFinite(perSecond)).toBe(origin !== 'start');
    }
  }
  for (const limiter of workers) limiter.close();
});

it('tells from the start that nothing waits for the store, where there is one', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  createLimiter({ clock, name: 'alone' });
  createLimiter({ clock, shared: store, name: 'one' });
  const shared = { concurrency: 1 };
  createLimiterGroup((key: string) => key, { clock, store, shared, name: 'group' });
  const told = await sdk.collect();
  const gate = { 'headgate.gate': 'shared' };
  for (const metric of ['headgate.request.queued', 'headgate.request.given_up']) {
    const values = ['alone', 'one', 'group'].map((name) => told.value(metric, gate, name));
    expect([metric, values]).toEqual([metric, [undefined, 0, 0]]);
  }
});
