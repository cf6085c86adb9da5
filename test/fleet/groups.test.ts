import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiterGroup, type LimiterGroupOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { keepWarnings } from '../support/warnings.ts';
import { mostWithin, Process } from './groups-rig.ts';
import { jain } from './rig.ts';

const TENANTS = ['ada', 'bob', 'cy'];

const warnings = keepWarnings();

function processes(count: number, options: LimiterGroupOptions) {
  const clock = new ManualClock();
  const store = memoryStore({ clock, ttlMs: 2_000 });
  const all = Array.from({ length: count }, () => new Process(store, clock, options));
  const workersOf = (key: string) => store.of?.(key).workers?.() as readonly object[];
  return { clock, store, all, workersOf };
}

function together(all: readonly Process[], key: string): number[] {
  return all.flatMap(({ sends }) => sends.get(key) ?? []);
}

describe('groups that share a store', () => {
  it('keep the limit of each key together, and fill it', async () => {
    const each = { adaptive: false, requestsPerMinute: 600 } as const;
    const { clock, all } = processes(2, { each });
    for (const { send } of all.map((one) => ({ send: one.send.bind(one) }))) {
      for (const tenant of TENANTS) send(tenant, 1_500, 100);
    }
    await clock.advanceAsync(120_000);
    for (const tenant of TENANTS) {
      const times = together(all, tenant);
      expect(mostWithin(times, 60_000)).toBeLessThanOrEqual(600);
      expect(times.length).toBeGreaterThan(2 * 600 * 0.97);
      expect(jain(all.map((one) => one.sent(tenant)))).toBeGreaterThan(0.99);
    }
  });

  it('keep what all keys share together, and the keys take turns', async () => {
    const { clock, all } = processes(2, {
      each: { adaptive: false },
      shared: { concurrency: 12, requestsPerMinute: 3_000 },
    });
    for (const one of all) {
      for (const [place, tenant] of TENANTS.entries()) one.send(tenant, 1_000 * (place + 1), 200);
    }
    let most = 0;
    for (let step = 0; step < 600; step += 1) {
      await clock.advanceAsync(100);
      most = Math.max(
        most,
        all.reduce((sum, { inFlight }) => sum + inFlight, 0),
      );
    }
    expect(most).toBeLessThanOrEqual(12);
    const sent = all.map(({ total }) => total);
    expect(sent.reduce((a, b) => a + b)).toBeGreaterThan(3_000 * 0.95);
    expect(
      mostWithin(
        all.flatMap(({ sends }) => [...sends.values()].flat()),
        60_000,
      ),
    ).toBeLessThanOrEqual(3_000);
    expect(jain(sent)).toBeGreaterThan(0.98);
    const byTenant = TENANTS.map((tenant) => together(all, tenant).length);
    expect(jain(byTenant)).toBeGreaterThan(0.98);
    expect(all[0]?.group.snapshot().fleet?.workers).toBe(2);
  });

  it.each([{}, { requestsPerMinute: 6_000 }])(
    'call the store seldom for keys with the limits %o that wait for what all share',
    async (own) => {
      const names = Array.from({ length: 50 }, (_, place) => `tenant ${place}`);
      const { clock, all } = processes(1, {
        each: { adaptive: false, ...own },
        shared: { requestsPerMinute: 60 },
      });
      const [one] = all as [Process];
      for (const name of names) one.send(name, 20, 100);
      await clock.advanceAsync(10_000);
      const before = one.calls;
      const sent = one.total;
      await clock.advanceAsync(10_000);
      expect(one.total - sent).toBeGreaterThanOrEqual(9);
      // A lease of 2 s is renewed every 500 ms, for each key; what all share is asked for besides.
      expect(one.calls - before).toBeLessThan(50 * 20 * 1.2 + 10 * 100);
    },
  );

  it('drop keys that leave the store, by age and by number', async () => {
    const { clock, all, workersOf } = processes(1, {
      each: { adaptive: false },
      maxKeys: 2,
      idleMs: 10_000,
    });
    const [one] = all as [Process];
    for (const tenant of ['ada', 'bob']) {
      one.send(tenant, 1, 100);
      await clock.advanceAsync(200);
    }
    expect(workersOf('ada')).toHaveLength(1);
    one.send('cy', 1, 100);
    await clock.advanceAsync(200);
    expect(one.group.keys).toEqual(['bob', 'cy']);
    expect(workersOf('ada')).toEqual([]);
    expect(workersOf('bob')).toHaveLength(1);
    await clock.advanceAsync(30_000);
    expect(one.group.keys).toEqual([]);
    expect(workersOf('bob')).toEqual([]);
    expect(workersOf('cy')).toEqual([]);
  });

  it('keep nothing of the fleet for the keys whose limiters are given up', async () => {
    const { clock, all, workersOf } = processes(1, { each: { adaptive: false } });
    const [one] = all as [Process];
    for (let key = 0; key < 600; key += 1) {
      one.send(`${key}`, 1, 1);
      await clock.advanceAsync(5);
    }
    const { keys } = one.group.snapshot();
    const asleep = Object.entries(keys).filter(([, { fleet }]) => fleet === undefined);
    expect(asleep.length).toBeGreaterThan(200);
    expect(new Set(asleep.map(([, { concurrency }]) => concurrency)).size).toBe(1);
    for (const [key] of asleep) expect(workersOf(key)).toEqual([]);
    expect(Object.values(keys).every(({ ended }) => ended.ok === 1)).toBe(true);
    // They go on where they were.
    one.send('0', 1, 1);
    await clock.advanceAsync(100);
    expect(one.sent('0')).toBe(2);
  });

  it('warn once for all keys that the store is away, and once that it is back', async () => {
    const { clock, all } = processes(1, {
      name: 'tenants',
      each: { adaptive: false },
      shared: { concurrency: 50 },
    });
    const [one] = all as [Process];
    for (const tenant of TENANTS) one.send(tenant, 5, 100);
    await clock.advanceAsync(1_000);
    one.isCut = true;
    for (const tenant of TENANTS) one.send(tenant, 5, 100);
    await clock.advanceAsync(5_000);
    expect(warnings).toEqual([
      expect.stringContaining('headgate (tenants) cannot reach the shared store'),
    ]);
    one.isCut = false;
    await clock.advanceAsync(5_000);
    expect(warnings).toHaveLength(2);
    expect(warnings[1]).toContain('reaches the shared store again');
    expect(one.total).toBe(30);
  });

  it('give everything back as they are closed and drained', async () => {
    const { clock, store, all, workersOf } = processes(1, { shared: { concurrency: 3 } });
    const [one] = all as [Process];
    one.send('ada', 6, 500);
    await clock.advanceAsync(200);
    one.group.close();
    const drained = one.group.drain();
    await clock.advanceAsync(5_000);
    await drained;
    expect(one.total).toBe(6);
    expect(workersOf('ada')).toEqual([]);
    expect(store.workers?.()).toEqual([]);
  });

  it('refuse what cannot be shared, by the name of the option', () => {
    const store = memoryStore();
    const group = (options: LimiterGroupOptions) =>
      createLimiterGroup((key: string) => key, options);
    expect(() => group({ store: {} as SharedStore })).toThrow('`store.exchange` must be');
    expect(() => group({ store: { join: store.join, exchange: store.exchange } })).toThrow(
      '`store.of` must be',
    );
    expect(() => group({ store, each: { onLimit: 'fail' } })).toThrow(
      "`each.onLimit` must be 'wait'",
    );
    expect(() => group({ store, shared: { requestsPerMinute: 6, onLimit: 'fail' } })).toThrow(
      "`shared.onLimit` must be 'wait'",
    );
    const limits = { images: { limit: 5, windowMs: Number.POSITIVE_INFINITY } };
    expect(() => group({ store, each: { limits } })).toThrow(
      '`each.limits.images.windowMs` must be finite',
    );
    expect(() => group({ store, shared: { limits } })).toThrow(
      '`shared.limits.images.windowMs` must be finite',
    );
    expect(() => group({ each: { shared: store } as never })).toThrow('shared');
  });
});
