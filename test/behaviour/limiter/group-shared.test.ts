import { map, of, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Sized } from '../../../src/index.ts';
import { expectAllIdle, groupRig } from '../../limiter/group-rig.ts';
import { fate } from '../../limiter/harness.ts';
import { ApiError, tooMany, watch } from '../../request/harness.ts';

describe('shared limits', () => {
  it('hold all keys back together: slots and bytes', async () => {
    for (const shared of [{ concurrency: 2 }, { maxBytes: 15 }]) {
      const { clock, group, run, started, end } = groupRig({ shared, each: { concurrency: 1 } });
      for (const name of ['a1', 'b1', 'c1', 'a2']) run(name, { bytes: 10 });
      expect(started).toEqual(['a1', 'b1']);
      end('b1');
      await clock.advanceAsync(0);
      expect(started).toEqual(['a1', 'b1', 'c1']);
      for (const name of ['a1', 'c1', 'a2']) {
        end(name);
        await clock.advanceAsync(0);
      }
      expect(started).toHaveLength(4);
      expectAllIdle(group);
    }
  });

  it('are left to other keys by one whose own slots were taken away while it had the turn', async () => {
    const limits = { requests: { limit: 1, windowMs: 1_000 } };
    const each = { concurrency: 2, adaptive: false } as const;
    const { clock, group, run, started } = groupRig({ shared: { limits }, each });
    for (const name of ['a1', 'a2', 'b1']) run(name);
    expect(started).toEqual(['a1']);
    group.get('a').configure({ concurrency: 1 });
    await clock.advanceAsync(1_000);
    expect(started).toEqual(['a1', 'b1']);
  });

  it('hold all keys back together: rates and a pace, besides their own limits', async () => {
    const each = { limits: { requests: { limit: 2, windowMs: 1_000 } } };
    for (const shared of [
      { limits: { requests: { limit: 3, windowMs: 1_000 } } },
      { pace: { intervalMs: 300, jitter: 0 } },
    ]) {
      const { clock, group, run, started, end } = groupRig({ shared, each });
      const names = ['a1', 'a2', 'a3', 'b1', 'b2'];
      const sentAt = new Map<string, number>();
      for (const name of names) run(name);
      for (let time = 0; time <= 3_000; time += 100) {
        for (const name of started) if (!sentAt.has(name)) sentAt.set(name, clock.now());
        for (const name of started) end(name);
        await clock.advanceAsync(100);
      }
      const times = (key: string) => names.filter((n) => n[0] === key).map((n) => sentAt.get(n));
      if ('pace' in shared) {
        expect([...sentAt.values()]).toEqual([0, 300, 600, 900, 1_200]);
      } else {
        expect(times('a')).toEqual([0, 0, 1_000]);
        expect(times('b')).toEqual([0, 1_000]);
      }
      expectAllIdle(group);
    }
  });

  it('charge costs to own and shared limits by their names', async () => {
    const { group } = groupRig({
      each: { limits: { pages: { limit: 10, windowMs: 1_000 } } },
      shared: { limits: { images: { limit: 10, windowMs: 1_000 } } },
    });
    await group.run('a', () => 1, { costs: { pages: 3, images: 4 } });
    await group.run('b', () => 1, { costs: { images: 1 } });
    const { shared, keys } = group.snapshot();
    expect(shared?.rateLimit?.images?.used).toBe(5);
    expect(keys.a?.rateLimit?.pages?.used).toBe(3);
    expect(keys.b?.rateLimit?.pages?.used).toBe(0);
    const unknown = group.run('a', () => 1, { costs: { pagez: 1 } });
    await expect(unknown).rejects.toMatchObject({ name: 'UnknownLimitError' });
    const tooMuch = group.run('a', () => 1, { costs: { images: 11 } });
    await expect(tooMuch).rejects.toMatchObject({ name: 'CostAboveLimitError', limit: 'images' });
    expect(() => group.tryAcquire('a', { costs: { pagez: 1 } })).toThrow(/pagez/);
    const costs = () => ({ pagez: 1 });
    const seen = watch(of('a').pipe(group.throttle(async () => 1, { costs })));
    expect(seen.error).toMatchObject({ name: 'UnknownLimitError' });
    expectAllIdle(group);
  });

  it('settle the used amounts with own and shared limits', async () => {
    const limits = { tokens: { limit: 100, windowMs: 1_000, charge: 'settle' as const } };
    const { group } = groupRig({ each: { limits }, shared: { limits } });
    const lease = await group.acquire('a', { tokens: 10 });
    lease.recordTokens(40);
    lease.release();
    const { shared, keys } = group.snapshot();
    expect(shared?.rateLimit?.tokens?.used).toBe(40);
    expect(keys.a?.rateLimit?.tokens?.used).toBe(40);
  });

  it('are refunded if a limit of the key keeps the request from being sent', async () => {
    const { clock, group, run } = groupRig({
      each: { circuitBreaker: { consecutiveFailures: 1 }, maxAttempts: 1 },
      shared: { limits: { requests: { limit: 10, windowMs: 1_000 } } },
    });
    await expect(group.run('a', () => Promise.reject(new ApiError(500)))).rejects.toThrow();
    const refused = run('a');
    await clock.advanceAsync(0);
    expect(refused.error).toMatchObject({ name: 'CircuitOpenError' });
    expect(group.snapshot().shared?.rateLimit?.requests?.used).toBe(1);
    expect(group.tryAcquire('a')).toBeUndefined();
    expect(group.snapshot().shared?.rateLimit?.requests?.used).toBe(1);
  });

  it("fail a request that does not fit at once with `onLimit: 'fail'`", async () => {
    const shared = {
      onLimit: 'fail' as const,
      limits: { requests: { limit: 1, windowMs: 1_000 } },
    };
    const { group } = groupRig({ shared });
    await group.run('a', () => 1);
    const refused = group.run('b', () => 1);
    await expect(refused).rejects.toMatchObject({ name: 'RateLimitExceededError' });
    expect(group.tryAcquire('b')).toBeUndefined();
    expectAllIdle(group);
  });

  it('survive a `random` that throws', async () => {
    const random = () => {
      throw new Error('no chance');
    };
    const { clock, group } = groupRig({
      random,
      shared: { concurrency: 1, pace: { intervalMs: 5 } },
    });
    expect(await group.run('a', () => 1)).toBe(1);
    const next = fate(group.run('b', () => 2));
    await clock.advanceAsync(10);
    expect(next.value).toBe(2);
    expectAllIdle(group);
  });
});

describe('keys take turns', () => {
  it('with one request each, if one has a thousand requests and another two', async () => {
    const { clock, group, started, task, end } = groupRig({ shared: { concurrency: 1 } });
    const source = range(0, 1_000).pipe(map((n) => `a${n}`));
    watch(source.pipe(group.throttle(task)));
    watch(of('b1', 'b2').pipe(group.throttle(task)));
    for (let n = 0; n < 6; n += 1) {
      end(started.at(-1) ?? '');
      await clock.advanceAsync(0);
    }
    expect(started.slice(0, 5)).toContain('b1');
    expect(started.slice(0, 6)).toContain('b2');
  });

  it.each(['tokens', 'bytes'] as const)('by %s', async (cost) => {
    const shared = { concurrency: 1, cost };
    const { clock, group, started, task, end } = groupRig({ shared });
    const large = range(0, 100).pipe(map((n) => new Sized(`a${n}`, 40, 10)));
    const small = range(0, 100).pipe(map((n) => new Sized(`b${n}`, 4, 1)));
    watch(large.pipe(group.throttle(task)));
    watch(small.pipe(group.throttle(task)));
    for (let n = 0; n < 110; n += 1) {
      end(started.at(-1) ?? '');
      await clock.advanceAsync(0);
    }
    const ofA = started.slice(0, 110).filter((name) => name[0] === 'a').length;
    expect(ofA).toBeGreaterThanOrEqual(9);
    expect(ofA).toBeLessThanOrEqual(13);
  });

  it('and a 429 of one key holds no other key back', async () => {
    const { clock, group, run, started, fail } = groupRig({ shared: { concurrency: 2 } });
    run('a1');
    fail('a1', tooMany(5_000));
    await clock.advanceAsync(0);
    run('a2');
    expect(await group.run('b', () => clock.now())).toBe(0);
    expect(group.snapshot().keys.b?.mode).toBe('normal');
    expect(started).toEqual(['a1']);
    expect(group.snapshot().shared?.concurrency?.inFlight).toBe(0);
    await clock.advanceAsync(5_000);
    expect(started).toEqual(['a1', 'a1']);
  });
});
