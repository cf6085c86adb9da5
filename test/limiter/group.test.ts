import { describe, expect, it } from 'vitest';
import { createLimiterGroup } from '../../src/index.ts';
import { ApiError, tooMany } from '../request/harness.ts';
import { expectAllIdle, groupRig } from './group-rig.ts';
import { fate } from './harness.ts';

describe('promises by key', () => {
  it('wait only for the limits of their own key', async () => {
    const { clock, group, run, started, end } = groupRig({ each: { concurrency: 1 } });
    const ran = ['a1', 'a2', 'b1', 'b2'].map((name) => run(name));
    expect(started).toEqual(['a1', 'b1']);
    for (const name of ['b1', 'b2', 'a1', 'a2']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['a1', 'b1', 'b2', 'a2']);
    expect(ran.map(({ value }) => value)).toEqual(['a1', 'a2', 'b1', 'b2']);
    expectAllIdle(group);
  });

  it('hold leases of own and shared limits', async () => {
    const { clock, group } = groupRig({ each: { concurrency: 1 }, shared: { concurrency: 2 } });
    const a = await group.acquire('a');
    expect(group.tryAcquire('a')).toBeUndefined();
    const b = group.tryAcquire('b');
    expect(group.tryAcquire('c')).toBeUndefined();
    const waiting = fate(group.acquire('c'));
    b?.release();
    await clock.advanceAsync(0);
    expect(waiting.state).toBe('ok');
    a.release();
    waiting.value?.release();
    expectAllIdle(group);
  });

  it('are sent again after a 429, with a charge of both limits for each attempt', async () => {
    const limits = { requests: { limit: 10, windowMs: 60_000 } };
    const { clock, group, run, started, fail, end } = groupRig({
      each: { limits },
      shared: { limits, concurrency: 1 },
    });
    run('a1');
    fail('a1', tooMany(1_000));
    await clock.advanceAsync(0);
    // While it backs off, others have what it does not need.
    const other = run('b1');
    end('b1');
    await clock.advanceAsync(0);
    expect(other.value).toBe('b1');
    await clock.advanceAsync(1_000);
    expect(started).toEqual(['a1', 'b1', 'a1']);
    end('a1');
    await clock.advanceAsync(0);
    const { shared, keys } = group.snapshot();
    expect(shared?.rateLimit?.requests?.used).toBe(3);
    expect(keys.a?.rateLimit?.requests?.used).toBe(2);
    expectAllIdle(group);
  });

  it('leave at once when they are aborted, and admit those behind them', async () => {
    const { clock, group, run, started, end } = groupRig({ shared: { concurrency: 1 } });
    const controller = new AbortController();
    run('a1');
    const aborted = [1, 2, 3].map((n) => run(`a${n}x`, { signal: controller.signal }));
    run('b1');
    run('a2');
    controller.abort(new Error('enough'));
    await clock.advanceAsync(0);
    expect(aborted.map(({ error }) => String(error))).toEqual(Array(3).fill('Error: enough'));
    for (const name of ['a1', 'a2', 'b1']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['a1', 'a2', 'b1']);
    expectAllIdle(group);
  });

  it('may be called from within a task, of another key or the same', async () => {
    const { group } = groupRig({ each: { concurrency: 2 }, shared: { concurrency: 4 } });
    const nested = group.run('a', () =>
      group.run('b', () => group.run('a', () => group.run('c', () => 'inner'))),
    );
    expect(await nested).toBe('inner');
    expectAllIdle(group);
  });

  it('go on where a task calls another key inside and fails in the same turn', async () => {
    const { clock, group } = groupRig({ shared: { concurrency: 1 } });
    const held = await group.acquire('x');
    const inner: ReturnType<typeof fate<string>>[] = [];
    const outer = ['a', 'b', 'c'].map((key, at) =>
      fate(
        group.run(key, () => {
          inner.push(fate(group.run(['b', 'c', 'a'][at] ?? '', () => 'inner')));
          throw new ApiError(400);
        }),
      ),
    );
    held.release();
    await clock.advanceAsync(0);
    expect(outer.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed']);
    expect(inner.map(({ value }) => value)).toEqual(['inner', 'inner', 'inner']);
    expectAllIdle(group);
  });

  it('of 5,000 keys pass without recursion when one slot is given back', async () => {
    const group = createLimiterGroup((key: string) => key, {
      maxKeys: 5_001,
      shared: { concurrency: 1 },
    });
    const held = await group.acquire('x');
    let done = 0;
    const all = Array.from({ length: 5_000 }, (_, key) =>
      group.run(`${key}`, () => {
        done += 1;
      }),
    );
    expect(done).toBe(0);
    held.release();
    await Promise.all(all);
    expect(done).toBe(5_000);
    expectAllIdle(group);
    group.close();
  });

  it('take the empty key, with limits of its own, as any other', async () => {
    const group = createLimiterGroup((key: string) => key, { each: { concurrency: 1 } });
    expect(await group.run('', () => 'ok')).toBe('ok');
    expect(group.keys).toEqual(['']);
  });
});

describe('limits that keys share', () => {
  it('are charged the usage of answers, even if the limits of a key need none', async () => {
    const hour = { windowMs: 3_600_000 };
    const group = createLimiterGroup(() => 'a', {
      each: { adaptive: false },
      shared: {
        limits: { tokens: { limit: 1_000, charge: 'settle', ...hour } },
        costBudget: { maxCost: 1, inputPrice: 2, ...hour },
      },
    });
    await group.run('a', async () => ({ usage: { total_tokens: 7 } }), { tokens: 50 });
    await group.drain();
    expect(group.snapshot().shared?.rateLimit?.tokens?.used).toBe(7);
    expect(group.snapshot().shared?.costBudget?.used).toBeCloseTo(14e-6, 9);
  });
});
