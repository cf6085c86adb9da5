import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { LimiterGroupOptions } from '../../src/index.ts';
import { groupRig } from './group-rig.ts';

const minute = (requests: number) => ({ requests: { limit: requests, windowMs: 60_000 } });

describe('group.configure, of shared limits,', () => {
  it('sends the waiting requests of 300 keys at once under a raised limit', async () => {
    const { clock, group } = groupRig({ shared: { requestsPerMinute: 500 } });
    let sent = 0;
    const task = async () => {
      sent += 1;
    };
    for (let n = 0; n < 1_500; n += 1) void group.run(`key ${n % 300}`, task);
    await clock.advanceAsync(0);
    expect(sent).toBe(500);
    group.configure({ shared: { requestsPerMinute: 5_000 } });
    await clock.advanceAsync(0);
    expect(sent).toBe(1_500);
    expect(group.snapshot().shared?.rateLimit?.requests).toMatchObject({ limit: 5_000 });
  });

  it('sends nothing under a lowered limit while more than that is in use', async () => {
    const { clock, group, run, started } = groupRig({ shared: { limits: minute(4) } });
    for (const name of ['a1', 'b1', 'c1']) run(name);
    group.configure({ shared: { limits: minute(2) } });
    for (const name of ['a2', 'b2', 'c2']) run(name);
    await clock.advanceAsync(59_999);
    expect(started).toEqual(['a1', 'b1', 'c1']);
    await clock.advanceAsync(1);
    expect(started).toHaveLength(5);
  });

  it.each([
    ['concurrency', { concurrency: 1 }, { concurrency: 2 }],
    ['maxBytes', { maxBytes: 5 }, { maxBytes: 15 }],
    ['pace', { pace: { intervalMs: 100, jitter: 0 } }, { pace: { intervalMs: 0 } }],
    ['a removed limit', { limits: minute(1) }, { requestsPerMinute: null }],
    [
      'costBudget',
      { costBudget: { maxCost: 1, windowMs: 60_000, inputPrice: 1e6, outputPrice: 0 } },
      { costBudget: { maxCost: 2, windowMs: 60_000, inputPrice: 1e6, outputPrice: 0 } },
    ],
  ])('changes them for waiting requests: %s', (_name, shared, changes) => {
    const { group, run, started } = groupRig({ shared: shared as LimiterGroupOptions['shared'] });
    for (const name of ['a1', 'b1']) run(name, { bytes: 10, tokens: 1 });
    expect(started).toEqual(['a1']);
    group.configure({ shared: changes as never });
    expect(started).toEqual(['a1', 'b1']);
  });

  it('fails waiting requests that can never pass a lowered limit, and sends those behind', async () => {
    const limits = { tokens: { limit: 9, windowMs: 1_000 } };
    const { clock, group, run, started } = groupRig({ shared: { limits } });
    run('a1', { tokens: 9 });
    const large = run('a2', { tokens: 9 });
    for (const name of ['a3', 'b1']) run(name, { tokens: 2 });
    group.configure({ shared: { limits: { tokens: { limit: 5, windowMs: 1_000 } } } });
    await clock.advanceAsync(1_000);
    expect(large.error).toMatchObject({ code: 'COST_ABOVE_LIMIT', cost: 9, maxCost: 5 });
    expect(started).toEqual(['a1', 'b1', 'a3']);
  });

  it('refuses a request that can never pass a lowered limit, though its options passed before', async () => {
    const limits = { tokens: { limit: 9, windowMs: 1_000 } };
    const { clock, group, run } = groupRig({ shared: { limits } });
    const said = { tokens: 9 };
    for (const name of ['a1', 'a2']) run(name, { tokens: 5 });
    run('b1', said);
    group.configure({ shared: { limits: { tokens: { limit: 5, windowMs: 1_000 } } } });
    const late = run('b2', said);
    await clock.advanceAsync(0);
    expect(late.error).toMatchObject({ code: 'COST_ABOVE_LIMIT', cost: 9, maxCost: 5 });
  });

  it('adds a limit beside others, which refuses requests that can never pass', async () => {
    const { clock, group, run, started } = groupRig({ shared: { limits: minute(9) } });
    run('a1');
    group.configure({ shared: { limits: { pages: { limit: 5, windowMs: 1_000 } } } });
    const large = run('a2', { costs: { pages: 6 } });
    for (const name of ['a3', 'b1']) run(name, { costs: { pages: 5 } });
    await clock.advanceAsync(0);
    expect(large.error).toMatchObject({ code: 'COST_ABOVE_LIMIT', cost: 6, maxCost: 5 });
    expect(started).toEqual(['a1', 'a3']);
  });
});

describe('group.configure, of the limits of each key,', () => {
  const each = { limits: minute(1) };

  it('changes present keys at once, and later ones', () => {
    const { group, run, started } = groupRig({ each });
    for (const name of ['a1', 'a2', 'b1', 'b2']) run(name);
    expect(started).toEqual(['a1', 'b1']);
    group.configure({ each: { limits: minute(2) } });
    expect(started).toEqual(['a1', 'b1', 'a2', 'b2']);
    for (const name of ['c1', 'c2', 'c3']) run(name);
    expect(started.slice(4)).toEqual(['c1', 'c2']);
  });

  it('changes keys with limits by key, and keeps what it does not name', () => {
    const byKey = (key: string) => ({ concurrency: key === 'a' ? 1 : 2, maxQueue: 1 });
    const { group, run, started } = groupRig({ each: byKey });
    run('a1');
    group.configure({ each: { concurrency: 3 } });
    group.configure({ each: { waitTimeoutMs: 100 } });
    for (const name of ['a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4']) run(name);
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
    expect(run('b5').error).toBeUndefined();
    expect(group.snapshot().keys.b).toMatchObject({ waiting: 1, concurrency: { limit: 3 } });
  });

  it('removes a limit from keys that have it, and costs for it are ignored, for later keys too', async () => {
    const byKey = (key: string) => (key === 'c' ? {} : { limits: { pages: minute(1).requests } });
    const { clock, group, run, started } = groupRig({ each: byKey });
    const costs = { pages: 1 };
    for (const name of ['a1', 'a2']) run(name, { costs });
    run('c1');
    group.configure({ each: { limits: { pages: null } } });
    const later = ['b1', 'b2', 'b3'].map((name) => run(name, { costs }));
    await clock.advanceAsync(0);
    expect(started).toEqual(['a1', 'c1', 'a2', 'b1', 'b2', 'b3']);
    expect(later.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
  });

  it('replaces a limit that was given by its short form, or removed before', () => {
    const { group, run, started } = groupRig({ each: { requestsPerMinute: 1 } });
    group.configure({ each: { requestsPerMinute: null } });
    for (const name of ['a1', 'a2', 'a3']) run(name);
    group.configure({ each: { limits: minute(2) } });
    for (const name of ['b1', 'b2', 'b3']) run(name);
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
  });

  it('concerns the keys whose limiters were released for their memory, too', async () => {
    const { clock, group } = groupRig({ each: { concurrency: 2 } });
    for (let n = 0; n < 1_100; n += 1) await group.run(`key ${n}`, () => n);
    await clock.advanceAsync(0);
    group.configure({ each: { concurrency: 7 } });
    const { keys } = group.snapshot();
    const limits = Object.values(keys).map(({ concurrency }) => concurrency.limit);
    expect(new Set(limits)).toEqual(new Set([7]));
    expect(Object.values(keys).every(({ ended }) => ended.ok === 1)).toBe(true);
    expect(Object.keys(keys)).toHaveLength(1_100);
  });

  it('sends nothing before all limits have changed', () => {
    const { group, run, started } = groupRig({
      each: { limits: minute(1) },
      shared: { concurrency: 9, limits: { pages: { limit: 9, windowMs: 1_000 } } },
    });
    for (const name of ['a1', 'a2', 'b1', 'b2']) run(name);
    group.configure({ each: { limits: minute(2) }, shared: { concurrency: 2 } });
    expect(started).toEqual(['a1', 'b1']);
    group.configure({ shared: { concurrency: 3 } });
    expect(started).toHaveLength(3);
  });
});

describe('wrong changes of a group', () => {
  const each = { requestsPerMinute: 1 };
  const shared = { requestsPerMinute: 1, concurrency: 2 };

  it.each([
    [
      { requestsPerMinute: 5 },
      /`requestsPerMinute` is no option of group\.configure.*shared.*each/,
    ],
    [{ shared: { requestPerMinute: 5 } }, /of shared; did you mean `requestsPerMinute`\?/],
    [{ shared: { requestsPerMinute: 0 } }, /`shared\.requestsPerMinute` must be .*>= 1.*got 0/],
    [{ shared: { concurrency: 1.5 } }, /`shared\.concurrency` must be an integer >= 1, got 1\.5/],
    [{ shared: { onLimit: 'fail' } }, /`onLimit` is no option of shared/],
    [{ shared: { maxBytes: 5 } }, /`shared\.maxBytes` cannot change: the group was made without/],
    [{ shared: { pace: { intervalMs: 5 } } }, /`shared\.pace` cannot change/],
    [{ shared: { requestsPerMinute: 5, limits: minute(5) } }, /`shared\.requestsPerMinute` and/],
    [{ shared: { limits: { pagez: null } } }, /pagez/],
    [{ each: { concurency: 5 } }, /of each; did you mean `concurrency`\?/],
    [{ each: { concurrency: 0 } }, /`each\.concurrency` must be an integer >= 1, got 0/],
    [{ each: { pace: { intervalMs: 5 } } }, /`pace` cannot change/],
    [{ each: { limits: { pagez: null } } }, /pagez/],
    [{ each: { backoff: {} } }, /`backoff` is no option of each/],
    [undefined, /must be an object, got undefined/],
  ])('throw, and change nothing: %j', (wrong, message) => {
    const { group, run, started } = groupRig({ each, shared });
    for (const name of ['a1', 'b1']) run(name);
    const right = { each: { concurrency: 3 }, shared: { requestsPerMinute: 9 } };
    const changes = wrong && {
      shared: { ...right.shared, ...('shared' in wrong && wrong.shared) },
      each: { ...right.each, ...('each' in wrong && wrong.each) },
    };
    const both = wrong && 'requestsPerMinute' in wrong ? wrong : changes;
    expect(() => group.configure(both as never)).toThrow(message);
    expect(started).toEqual(['a1']);
    run('c1');
    const { keys, shared: common } = group.snapshot();
    expect(common?.rateLimit?.requests).toMatchObject({ limit: 1 });
    for (const key of Object.values(keys)) expect(key.concurrency.limit).not.toBe(3);
  });

  it('throw where the concurrency of a key does not allow them, and not where it does', () => {
    const concurrencies: Record<string, number> = { a: 500, b: 60 };
    const { group, run } = groupRig({ each: (key) => ({ concurrency: concurrencies[key] ?? 50 }) });
    run('a1');
    const changes = { each: { adaptive: { strategy: 'latency', minLimit: 450 } } } as const;
    group.configure(changes);
    expect(group.snapshot().keys.a?.adaptive).toMatchObject({ minLimit: 450 });
    group.configure({ each: { adaptive: false } });
    run('b1');
    expect(() => group.configure(changes)).toThrow(/minLimit` must be .*60.*got 450/);
    expect(group.snapshot().keys.a?.adaptive).toBeUndefined();
  });

  it('throw if one key alone cannot make them', () => {
    const pace = { intervalMs: 10 };
    const { group, run } = groupRig({ each: (key) => (key === 'a' ? { pace } : {}) });
    for (const name of ['a1', 'b1']) run(name);
    const changes = { each: { pace: { intervalMs: 20 } } };
    expect(() => group.configure(changes)).toThrow(/`pace` cannot change/);
    expect(group.snapshot().keys.a?.pace?.intervalMs).toBe(10);
  });

  it('throw for shared limits of a group without any', () => {
    const { group } = groupRig({ each });
    const changes = { shared: { requestsPerMinute: 5 } };
    expect(() => group.configure(changes)).toThrow(/`shared` cannot change.*made without/);
  });

  it('throw for quotas that a store cannot keep', () => {
    const { group } = groupRig({ shared, store: memoryStore() });
    const limits = { pages: { limit: 5, windowMs: Number.POSITIVE_INFINITY } };
    const message = /`shared\.limits\.pages\.windowMs` must be finite with `store`/;
    expect(() => group.configure({ shared: { limits } })).toThrow(message);
    group.close();
  });
});

describe('group.configure, after `close`,', () => {
  it('still concerns the requests that wait', async () => {
    const { clock, group, run, started, end } = groupRig({ shared: { limits: minute(1) } });
    for (const name of ['a1', 'b1', 'b2']) run(name);
    group.close();
    group.configure({ shared: { limits: minute(9) }, each: { concurrency: 1 } });
    expect(started).toEqual(['a1', 'b1']);
    for (const name of ['a1', 'b1', 'b2']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['a1', 'b1', 'b2']);
    await group.drain();
    group.configure({ shared: { limits: minute(2) } });
    expect(clock.pendingTimers).toBe(0);
  });
});
