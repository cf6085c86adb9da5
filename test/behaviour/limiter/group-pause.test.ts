import { describe, expect, it } from 'vitest';
import { createLimiterGroup, LimiterClosedError, QueueClearedError } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { fate } from '../../limiter/harness.ts';

function groupOf(options: Parameters<typeof createLimiterGroup<string>>[1] = {}) {
  const clock = new ManualClock();
  return { clock, group: createLimiterGroup((key: string) => key, { clock, ...options }) };
}

describe('a group', () => {
  it('pauses and resumes all keys, including keys first used meanwhile', async () => {
    const { clock, group } = groupOf();
    await group.run('a', () => 1);
    group.pause('night');
    const waiting = [fate(group.run('a', () => 2)), fate(group.run('b', () => 3))];
    await clock.advanceAsync(100);
    expect(waiting.map(({ state }) => state)).toEqual(['open', 'open']);
    expect(group.snapshot().keys).toMatchObject({
      a: { state: 'paused', paused: { reason: 'night' } },
      b: { state: 'paused', paused: { reason: 'night', pausedMs: 100 } },
    });
    group.resume();
    await clock.advanceAsync(0);
    expect(waiting.map(({ value }) => value)).toEqual([2, 3]);
  });

  it('has one limiter for a key that is used while listeners hear of its pause', async () => {
    const { clock, group } = groupOf();
    const told: unknown[] = [];
    let inner = fate(Promise.resolve(0));
    group.events$.subscribe(({ kind, key }) => {
      if (kind !== 'paused') return;
      told.push(key);
      inner = fate(group.run('a', () => 1));
    });
    group.pause();
    const outer = fate(group.run('a', () => 2));
    expect(group.snapshot().keys.a?.waiting).toBe(2);
    group.resume();
    await clock.advanceAsync(0);
    expect([inner.value, outer.value, ...told]).toEqual([1, 2, 'a']);
  });

  it('resumes a key whose pause a listener answers with `resume`', async () => {
    const { clock, group } = groupOf();
    group.events$.subscribe(({ kind }) => {
      if (kind === 'paused') group.resume();
    });
    group.pause();
    const sent = fate(group.run('a', () => 1));
    await clock.advanceAsync(0);
    expect(sent.value).toBe(1);
  });

  it('pauses one key without keeping others from the shared limits', async () => {
    const { clock, group } = groupOf({ shared: { concurrency: 1 } });
    const held = await group.acquire('a');
    const [a, b] = [fate(group.run('a', () => 'a')), fate(group.run('b', () => 'b'))];
    group.get('a').pause();
    held.release();
    await clock.advanceAsync(0);
    expect([a.state, b.value]).toEqual(['open', 'b']);
    group.get('a').resume();
    await clock.advanceAsync(0);
    expect(a.value).toBe('a');
  });

  it('clears all keys, and closes with waiting requests rejected', async () => {
    const { clock, group } = groupOf({ shared: { concurrency: 1 } });
    const held = await group.acquire('a');
    const cleared = [fate(group.acquire('a')), fate(group.acquire('b'))];
    group.clear('over');
    await clock.advanceAsync(0);
    for (const { error } of cleared) expect(error).toBeInstanceOf(QueueClearedError);
    const rejected = fate(group.acquire('b'));
    group.close({ waiting: 'reject' });
    await clock.advanceAsync(0);
    expect(rejected.error).toBeInstanceOf(LimiterClosedError);
    const drained = fate(group.drain());
    held.release();
    await clock.advanceAsync(0);
    expect(drained.state).toBe('ok');
    expect(() => group.close({ waiting: 'drop' as never })).toThrow('`waiting` must be one of');
    expect(() => group.clear(5 as never)).toThrow('`reason` must be a string');
  });

  it('returns the limiter of a key, which is kept however long the key is idle', async () => {
    const { clock, group } = groupOf({ idleMs: 10 });
    const limiter = group.get('a');
    expect(group.get('a')).toBe(limiter);
    await group.run('b', () => 1);
    await clock.advanceAsync(1_000);
    expect(group.keys).toEqual(['a']);
    limiter.configure({ concurrency: 1 });
    const lease = await limiter.acquire();
    expect(group.tryAcquire('a')).toBeUndefined();
    lease.release();
    expect(() => group.get(5 as never)).toThrow('must be a string, got 5');
    group.close();
    expect(limiter.snapshot().state).toBe('closed');
  });
});
