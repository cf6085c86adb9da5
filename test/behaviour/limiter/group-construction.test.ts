import { describe, expect, it } from 'vitest';
import { joinFleet } from '../../../src/fleet/fleet.ts';
import { memoryStore } from '../../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../../src/fleet/shared-store.ts';
import { createLimiter, createLimiterGroup } from '../../../src/index.ts';
import type { KeyOptions } from '../../../src/limiter/group-options.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

/** Counts what begins and has not ended: workers of a store, and instruments. */
function counting() {
  const clock = new ManualClock();
  const open = { workers: 0, instruments: 0 };
  const counted = (store: SharedStore): SharedStore => ({
    ...store,
    join: (...args) => {
      const limits = joinFleet(...args);
      const begin = limits.begin.bind(limits);
      const close = limits.close.bind(limits);
      limits.begin = (gate) => {
        begin(gate);
        open.workers += 1;
      };
      limits.close = () => {
        close();
        open.workers -= 1;
      };
      return limits;
    },
    of: (name) => counted((store as Required<SharedStore>).of(name)),
  });
  const instrumentation = {
    opened: () => {
      open.instruments += 1;
      return () => {
        open.instruments -= 1;
      };
    },
  };
  return { clock, open, store: counted(memoryStore({ clock })), instrumentation };
}

const WRONG: readonly (readonly [name: string, each: KeyOptions])[] = [
  ['concurrency', { concurrency: 0 }],
  ['requestsPerMinute', { requestsPerMinute: -1 }],
  ['total', { total: -1 }],
  ['maxQueue', { maxQueue: -1 }],
  ['classify', { classify: 1 as never }],
  ['onLimit', { onLimit: 'fail', requestsPerMinute: 1 }],
  ['clock', { clock: new ManualClock() }],
];

describe('a group whose options are wrong', () => {
  it.each(WRONG)('has begun nothing when it throws: each.%s', (name, each) => {
    const { clock, open, store, instrumentation } = counting();
    const create = () =>
      createLimiterGroup(() => 'a', {
        clock,
        each,
        shared: { concurrency: 2, requestsPerMinute: 10 },
        store,
        instrumentation,
      });
    expect(create).toThrow(name);
    expect(open).toEqual({ workers: 0, instruments: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('has begun nothing when it throws: shared', () => {
    const { clock, open, store, instrumentation } = counting();
    const shared = { concurrency: 2, cost: 'money' as never };
    const create = () => createLimiterGroup(() => 'a', { clock, shared, store, instrumentation });
    expect(create).toThrow('shared.cost');
    expect(open).toEqual({ workers: 0, instruments: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('has started its shared limits, and nothing for a key, if the options are right', () => {
    const { clock, open, store, instrumentation } = counting();
    const shared = { concurrency: 2 };
    createLimiterGroup(() => 'a', { clock, shared, store, instrumentation });
    expect(open).toEqual({ workers: 1, instruments: 1 });
    expect(clock.pendingTimers).toBe(0);
  });
});

it('a limiter whose options are wrong has begun nothing when it throws', () => {
  const { clock, open, store, instrumentation } = counting();
  const limits = { quota: { limit: 1, windowMs: Number.POSITIVE_INFINITY } };
  const create = () => createLimiter({ clock, limits, shared: store, instrumentation });
  expect(create).toThrow('limits.quota.windowMs');
  expect(open).toEqual({ workers: 0, instruments: 0 });
  expect(clock.pendingTimers).toBe(0);
});
