import { describe, expect, it } from 'vitest';
import type { SharedOptions } from '../../../src/advanced.ts';
import { createLimiterGroup, type LimiterGroupOptions } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { groupRig } from '../../limiter/group-rig.ts';

const made = (options: object) => () =>
  createLimiterGroup(() => 'a', options as LimiterGroupOptions);

describe('a wrong option of a group is named', () => {
  it.each<[object, RegExp]>([
    [{ idleMs: 0 }, /`idleMs` must be a finite number >= 1, got 0/],
    [{ idleMs: Number.NaN }, /`idleMs`.*NaN/],
    [{ idleMs: '5' }, /`idleMs`.*"5"/],
    [{ eech: {} }, /`eech` is no option of createLimiterGroup; did you mean `each`/],
    [{ concurrency: 5 }, /`concurrency` is no option of createLimiterGroup/],
    [{ clock: {} }, /`clock/],
    [{ instrumentation: 5 }, /`instrumentation`/],
    [{ random: 5 }, /`random`/],
    [{ classify: 'x' }, /`classify`/],
    [{ each: 5 }, /options of each must be an object, got 5/],
    [{ each: null }, /options of each must be an object, got null/],
    [{ each: { concurrency: 0 } }, /^`each.concurrency` must be .*got 0/],
    [{ each: { pace: { intervalMs: -1 } } }, /^`each.pace.intervalMs` must be/],
    [{ each: { limits: { rpm: { limit: 0, windowMs: 1 } } } }, /^`each.limits.rpm.limit` must be/],
    [{ each: { limits: { '': { limit: 1, windowMs: 1 } } } }, /^`each.limits` cannot have .*""/],
    [{ shared: { limits: { '': { limit: 1, windowMs: 1 } } } }, /^`shared.limits` cannot .*""/],
    [
      { each: { adaptive: { strategy: 'rate', minLimit: 1 } } },
      /^`each.adaptive.minLimit` belongs/,
    ],
    [{ each: { isFailure: 5 } }, /^`each.isFailure` must be a function, got 5/],
    [{ each: { classify: 'x' } }, /^`each.classify` must be a function, got "x"/],
    [{ each: { rpm: 5 } }, /`rpm` is no option of each; did you mean `requestsPerMinute`\?/],
    [{ each: { priority: 5 } }, /; give it to `group.throttle` or `group.run`/],
    [{ each: { limitz: {} } }, /`limitz` is no option of each/],
    [{ each: { clock: new ManualClock() } }, /`each.clock` must be the clock of the group/],
    [{ shared: 5 }, /options of shared must be an object, got 5/],
    [{ shared: null }, /options of shared must be an object, got null/],
    [{ shared: false }, /options of shared must be an object, got false/],
    [{ shared: { circuitBreaker: true } }, /`circuitBreaker` is no option of shared/],
    [{ shared: { cost: 'size' } }, /`shared.cost`.*"size"/],
  ])('%j', (options, message) => {
    expect(made(options)).toThrow(message);
    // By key it is found when the first comes.
    const { each } = options as { each?: object | null };
    if (each === undefined) expect(made({ ...options, each: () => ({}) })).toThrow(message);
    else {
      const group = made({ each: () => each })();
      const named = message.source.replace('each', 'each\\("a"\\)');
      expect(() => group.run('a', () => 1)).toThrow(new RegExp(named));
      expect(group.keys).toEqual([]);
    }
  });

  it.each<[keyof SharedOptions, unknown]>([
    ['concurrency', 0],
    ['concurrency', 1.5],
    ['maxBytes', -1],
    ['requestsPerMinute', 0],
    ['tokensPerMinute', Number.NaN],
    ['limits', { pages: { limit: 5 } }],
    ['limits', { requests: { limit: 5, windowMs: 5 } }],
    ['onLimit', 'never'],
    ['refundRejected', 1],
    ['pace', { intervalMs: -1 }],
    ['pace', { intervalMs: 5, jitter: 2 }],
  ])('shared %s: %j', (name, value) => {
    const options = { shared: { requestsPerMinute: 5, [name]: value } };
    expect(made(options)).toThrow(new RegExp(`^\`shared\\..*${name}`));
  });

  it('of `keyOf`, `project` and a stream', () => {
    expect(() => createLimiterGroup(5 as never)).toThrow(/`keyOf` must be a function, got 5/);
    const { group } = groupRig();
    expect(() => group.throttle(5 as never)).toThrow(/`project`/);
    const throttle = (options: object) => () => group.throttle(async () => 1, options);
    expect(throttle({ outcomes: 1 })).toThrow(/`outcomes`/);
    expect(throttle({ concurrency: 1 })).toThrow(/`concurrency` is no option of group.throttle/);
    expect(throttle({ costs: 1 })).toThrow(/`costs`/);
  });

  it('of a promise', () => {
    const { group } = groupRig();
    const wrong = { tokens: -1 };
    for (const call of [
      () => group.run('a', () => 1, wrong),
      () => group.acquire('a', wrong),
      () => group.tryAcquire('a', wrong),
    ]) {
      expect(call).toThrow(/`tokens`/);
    }
    for (const key of [5, undefined, {}]) {
      expect(() => group.run(key as never, () => 1)).toThrow(/key of a request must be a string/);
    }
    expect(group.keys).toEqual(['a']);
  });
});

describe('limits by key', () => {
  it('are computed once for each key, and an error keeps no key', () => {
    const asked: string[] = [];
    const { group, run } = groupRig({
      each: (key) => {
        asked.push(key);
        if (key === 'x') throw new Error('no such model');
        return { concurrency: key === 'a' ? 1 : 2 };
      },
    });
    for (const name of ['a1', 'a2', 'b1', 'b2', 'b3']) run(name);
    expect(asked).toEqual(['a', 'b']);
    expect(() => group.run('x', () => 1)).toThrow('no such model');
    expect(group.keys).toEqual(['a', 'b']);
    const { keys } = group.snapshot();
    expect([keys.a?.waiting, keys.b?.waiting]).toEqual([1, 1]);
  });

  it('leave what is undefined to the group', async () => {
    const each = { clock: undefined, random: undefined, classify: undefined };
    const { clock, group, started, run, fail } = groupRig({
      each: { ...each, limits: { requests: { limit: 2, windowMs: 1_000 } } },
      classify: () => ({ kind: 'throttled', retryAfterMs: 3_000 }),
    });
    run('a1');
    fail('a1', new Error('mine'));
    // The waits are those of the group's clock.
    await clock.advanceAsync(10_000);
    expect(started).toEqual(['a1', 'a1']);
    run('a2');
    run('a3');
    run('a4');
    await clock.advanceAsync(1_000);
    expect(started).toEqual(['a1', 'a1', 'a2', 'a3', 'a4']);
    group.clear();
  });

  it('have keys of any name', async () => {
    const { group } = groupRig();
    for (const key of ['', '__proto__', 'constructor', 'é']) {
      expect(await group.run(key, () => key)).toBe(key);
      expect(Object.keys(group.snapshot().keys)).toContain(key);
    }
    expect(group.keys).toHaveLength(4);
  });
});
