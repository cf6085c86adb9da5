import { describe, expect, it } from 'vitest';
import { createLimiterGroup, type LimiterGroupOptions } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { groupRig, listenTo } from '../../limiter/group-rig.ts';
import { tooMany } from '../../request/harness.ts';
import { leastGrowth } from '../../support/memory.ts';

/** More than so many idle keys give up the limiters of the oldest. */
const MANY = 1_000;

describe('an idle key', () => {
  it.each<[string, NonNullable<LimiterGroupOptions['each']>]>([
    ['with the defaults', {}],
    ['with limits of its own', () => ({ requestsPerMinute: 600, tokensPerMinute: 60_000 })],
    ['with fixed rules and a circuit breaker', { adaptive: false, circuitBreaker: true }],
  ])('costs at most 2 KB %s', async (_what, each) => {
    const clock = new ManualClock();
    const limits = { maxKeys: 1_000_000, idleMs: 1e9 };
    const group = createLimiterGroup((key: string) => key, { clock, each, ...limits });
    let keys = 0;
    const open = async (last: number) => {
      for (; keys < last; keys += 1) {
        // What a rate limit has charged is remembered for its window.
        if (keys % 100 === 0) await clock.advanceAsync(61_000 / 20);
        await group.run(`key ${keys}`, () => keys);
      }
    };
    await open(MANY);
    const growth = await leastGrowth(2_048 * MANY, () => open(keys + MANY));
    expect(growth / MANY).toBeLessThan(2_048);
    expect(group.keys.length).toBeGreaterThan(MANY);
  });

  it('continues as if it had kept its limiter', async () => {
    const { clock, group } = groupRig({ each: { concurrency: 2, maxQueue: 1 }, idleMs: 1e9 });
    const modes = listenTo(group);
    const run = (key: string) => group.run(key, async () => key);
    await run('first');
    const [held, other] = [group.tryAcquire('first'), group.tryAcquire('first')];
    const waiting = run('first');
    await expect(run('first')).rejects.toThrow('is full');
    held?.release();
    await waiting;
    other?.release('failed', new Error('no'));
    const before = group.snapshot().keys.first;
    expect(before).toMatchObject({ ended: { ok: 3, failed: 1, rejected: 1 }, dropped: 1 });
    const kept = group.get('kept');
    const busy = group.tryAcquire('busy');
    await group.acquire('learned').then((lease) => lease.release('failed', tooMany(1_000_000)));
    for (let n = 0; n < MANY; n += 1) await run(`${n}`);
    expect(group.keys).toHaveLength(MANY + 4);
    const { first, learned } = group.snapshot().keys;
    expect(first).toEqual({ ...before, progress: first?.progress });
    expect(first?.progress).toMatchObject({ completed: 3, failed: 2 });
    expect(learned?.backoff.closedForMs).toBeGreaterThan(0);
    await run('first');
    expect(group.snapshot().keys.first).toMatchObject({
      ended: { ok: 4, failed: 1, rejected: 1 },
      dropped: 1,
      concurrency: { inFlight: 0 },
    });
    expect(group.get('kept')).toBe(kept);
    expect(group.snapshot().keys.busy?.concurrency.inFlight).toBe(1);
    busy?.release();
    group.pause('all');
    let isSent = false;
    void group.run('7', () => {
      isSent = true;
    });
    await clock.advanceAsync(0);
    expect(isSent).toBe(false);
    group.resume();
    await clock.advanceAsync(0);
    expect(isSent).toBe(true);
    group.pause();
    group.resume();
    // A key that has slept tells of its mode again.
    modes.length = 0;
    await group.acquire('9').then((lease) => lease.release('failed', tooMany(5_000)));
    expect(modes.filter(({ kind }) => kind === 'modeChanged')).toMatchObject([{ key: '9' }]);
    group.close();
    await expect(group.run('11', () => 1)).rejects.toThrow('closed');
  });
});
