import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/index.ts';
import { expectAllIdle, groupRig } from '../../limiter/group-rig.ts';
import { fate } from '../../limiter/harness.ts';
import { ApiError } from '../../request/harness.ts';

describe('group.map', () => {
  it('resolves with results in the order of the source, each through its key', async () => {
    const { clock, group, started, task, end } = groupRig({ each: { concurrency: 1 } });
    const mapped = fate(group.map(['a1', 'a2', 'b1', 'b2'], (name) => task(name)));
    expect(started).toEqual(['a1', 'b1']);
    for (const name of ['b1', 'b2', 'a1', 'a2']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['a1', 'b1', 'b2', 'a2']);
    expect(mapped.value).toEqual(['a1', 'a2', 'b1', 'b2']);
    expectAllIdle(group);
    expect(await group.map([], () => 1)).toEqual([]);
  });

  it('reads ahead far enough that a waiting key holds up no other, and no further', async () => {
    const { clock, group, started, task } = groupRig({ each: { concurrency: 1 } });
    let read = 0;
    function* names() {
      for (const key of 'aaab') {
        read += 1;
        yield `${key}${read}`;
      }
      for (;;) {
        read += 1;
        yield `c${read}`;
      }
    }
    const controller = new AbortController();
    const { signal } = controller;
    const mapped = fate(group.map(names(), task, { readAhead: 3, signal }));
    // Of a two wait, of c one: three in all.
    expect(started).toEqual(['a1', 'b4', 'c5']);
    expect(read).toBe(6);
    controller.abort(new Error('enough'));
    await clock.advanceAsync(0);
    expect(mapped.error).toMatchObject({ message: 'enough' });
    expectAllIdle(group);
    const close = fate(
      group.map(names(), task, { readAhead: 1, signal: new AbortController().signal }),
    );
    expect(close.state).toBe('open');
    expect(started).toHaveLength(4);
    group.close({ waiting: 'reject' });
    await clock.advanceAsync(0);
    expect(close.state).toBe('failed');
  });

  it('rejects with the first error, or resolves with an outcome for each value', async () => {
    const { group } = groupRig();
    const fn = async (name: string) => {
      if (name === 'b') throw new ApiError(400);
      return name.toUpperCase();
    };
    await expect(group.map(['a', 'b', 'c'], fn)).rejects.toBeInstanceOf(ApiError);
    const outcomes: Outcome<string, string>[] = await group.map(['a', 'b', 'c'], fn, {
      outcomes: true,
    });
    expect(outcomes.map(({ request, status }) => `${request} ${status}`)).toEqual([
      'a ok',
      'b failed',
      'c ok',
    ]);
    expectAllIdle(group);
  });

  it('refuses wrong options by their names', () => {
    const { group } = groupRig();
    expect(() => group.map(['a'], 1 as never)).toThrow('`fn` must be a function');
    expect(() => group.map(['a'], () => 1, { readAhead: 0 })).toThrow(
      '`readAhead` must be an integer',
    );
    expect(() => group.map(['a'], () => 1, { ahead: 1 } as never)).toThrow('`ahead`');
    expect(() => group.map(5 as never, () => 1)).toThrow(TypeError);
  });
});
