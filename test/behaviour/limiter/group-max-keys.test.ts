import { from, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiterGroup } from '../../../src/index.ts';
import { groupRig } from '../../limiter/group-rig.ts';

describe('the keys of a group', () => {
  it('are at most `maxKeys`: the key that was idle longest is dropped', async () => {
    const { clock, group, run, end } = groupRig({ maxKeys: 3, each: { concurrency: 1 } });
    for (const name of ['a', 'b', 'c']) {
      run(name);
      await clock.advanceAsync(1);
    }
    for (const name of ['c', 'a', 'b']) end(name);
    await clock.advanceAsync(1);
    group.tryAcquire('a')?.release();
    run('d');
    expect(group.keys).toEqual(['a', 'c', 'd']);
    run('e');
    expect(group.keys).toEqual(['a', 'd', 'e']);
  });

  it('in use are kept: a request of one more key fails with the option’s name', async () => {
    const { clock, group, run, end } = groupRig({ maxKeys: 2 });
    run('a');
    run('b');
    const third = run('c');
    await clock.advanceAsync(1);
    expect(third.error).toMatchObject({
      code: 'TOO_MANY_KEYS',
      maxKeys: 2,
      message:
        'this group has maxKeys (2) keys: each is in use, has state, or was taken with get()',
    });
    await expect(group.acquire('c')).rejects.toMatchObject({ code: 'TOO_MANY_KEYS' });
    expect(() => group.tryAcquire('c')).toThrow('maxKeys (2)');
    const stream = from(['a', 'c']).pipe(group.throttle(async (name) => name));
    await expect(lastValueFrom(stream)).rejects.toMatchObject({ code: 'TOO_MANY_KEYS' });
    end('a');
    await clock.advanceAsync(1);
    run('c');
    expect(group.keys).toEqual(['b', 'c']);
  });

  it('with state to keep are kept, so that no limit is exceeded', async () => {
    const limits = { requests: { limit: 1, windowMs: 1_000 } };
    const { clock, group } = groupRig({ maxKeys: 1, each: { limits } });
    group.tryAcquire('a')?.release();
    expect(() => group.tryAcquire('b')).toThrow('maxKeys (1)');
    await clock.advanceAsync(1_000);
    expect(group.tryAcquire('b')).toBeDefined();
    expect(group.keys).toEqual(['b']);
  });

  it('are checked: maxKeys', () => {
    expect(() => createLimiterGroup(String, { maxKeys: 0 })).toThrow(
      '`maxKeys` must be an integer >= 1, got 0',
    );
  });

  it('may be any number over time: of 3,000 keys in sequence 1,000 are kept', () => {
    const { group } = groupRig({ maxKeys: 1_000 });
    for (let n = 0; n < 3_000; n += 1) group.tryAcquire(`k${n}`)?.release();
    expect(group.keys).toHaveLength(1_000);
    expect(group.keys[0]).toBe('k2000');
  });

  it('are at most 10,000 by default', () => {
    const { group } = groupRig();
    for (let n = 0; n < 10_000; n += 1) group.tryAcquire(`k${n}`);
    expect(() => group.tryAcquire('one more')).toThrow('maxKeys (10000)');
  });
});
