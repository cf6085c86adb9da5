import { describe, expect, it } from 'vitest';
import { CostAboveLimitError, type Outcome } from '../../src/index.ts';
import { expectIdle, fate } from './harness.ts';
import { rig, script } from './rig.ts';

/** Numbers from 1, and how many of them were read; told when it is closed. */
function counted(length: number) {
  const seen = { read: 0, closed: false };
  function* numbers() {
    try {
      for (let n = 1; n <= length; n += 1) {
        seen.read = n;
        yield n;
      }
    } finally {
      seen.closed = true;
    }
  }
  return { seen, numbers: numbers() };
}

describe('limiter.map', () => {
  it('resolves with the results in order, whatever the order in which they come', async () => {
    const { clock, limiter } = rig({ concurrency: 3 });
    const { task, end, started } = script(limiter);
    const mapped = fate(limiter.map(['a', 'b', 'c', 'd'], (name) => task(name)()));
    expect(started).toEqual(['a', 'b', 'c']);
    for (const name of ['c', 'a', 'd', 'b']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(mapped.value).toEqual(['a', 'b', 'c', 'd']);
    expectIdle(limiter);
    expect(await limiter.map([], () => 1)).toEqual([]);
    expect(await limiter.map([1, 2], (n, { index }) => n * 10 + index)).toEqual([10, 21]);
  });

  it('reads no more than one value ahead of what is sent, also of an endless source', async () => {
    const { clock, limiter } = rig({ concurrency: 2 });
    const { seen, numbers } = counted(Number.POSITIVE_INFINITY);
    const { task, end } = script(limiter);
    const controller = new AbortController();
    const { signal } = controller;
    const mapped = fate(limiter.map(numbers, (n) => task(`${n}`)(), { signal }));
    expect(seen.read).toBe(3);
    end('1');
    await clock.advanceAsync(0);
    expect(seen.read).toBe(4);
    controller.abort(new Error('enough'));
    await clock.advanceAsync(0);
    expect(mapped.error).toMatchObject({ message: 'enough' });
    expect(seen).toEqual({ read: 4, closed: true });
    expectIdle(limiter);
    const late = fate(limiter.map(counted(1).numbers, () => 1, { signal }));
    await clock.advanceAsync(0);
    expect(late.state).toBe('failed');
  });

  it.each(['task', 'source'])('ends with an abort by the first call of its %s', async (who) => {
    const { clock, limiter } = rig({ concurrency: 2 });
    const controller = new AbortController();
    const { signal } = controller;
    const abortIf = (isIt: boolean) => isIt && controller.abort(new Error('enough'));
    const { seen, numbers } = counted(Number.POSITIVE_INFINITY);
    function* source() {
      for (const n of numbers) {
        abortIf(who === 'source' && n === 2);
        yield n;
      }
    }
    const sent: number[] = [];
    const task = (n: number) => {
      sent.push(n);
      abortIf(who === 'task' && n === 1);
      return new Promise<number>(() => {});
    };
    const mapped = fate(limiter.map(source(), task, { signal }));
    await clock.advanceAsync(0);
    expect(mapped.error).toMatchObject({ message: 'enough' });
    expect(sent).toEqual([1]);
    expect(seen.read).toBeLessThanOrEqual(2);
    expectIdle(limiter);
  });

  it('reads async iterables, and waits its turn among others', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    async function* source() {
      yield 'a';
      yield 'b';
    }
    const held = await limiter.acquire();
    const mapped = fate(limiter.map(source(), async (name) => name.toUpperCase()));
    await clock.advanceAsync(0);
    expect(limiter.snapshot().waiting).toBe(1);
    held.release();
    await clock.advanceAsync(0);
    expect(mapped.value).toEqual(['A', 'B']);
  });

  it('rejects with the first error, reads no further and abandons the rest', async () => {
    const { clock, limiter } = rig({ concurrency: 2 });
    const { seen, numbers } = counted(100);
    const signals: AbortSignal[] = [];
    const mapped = fate(
      limiter.map(numbers, (n, { signal }) => {
        signals.push(signal);
        if (n === 2) throw new TypeError('two');
        return new Promise<number>(() => {});
      }),
    );
    await clock.advanceAsync(0);
    expect(mapped.error).toMatchObject({ message: 'two' });
    expect(seen.closed).toBe(true);
    expect(seen.read).toBeLessThanOrEqual(4);
    expect(signals[0]?.aborted).toBe(true);
    expectIdle(limiter);
  });

  it('has an outcome of each with `outcomes`, of those too that were never sent', async () => {
    const { limiter } = rig({ limits: { tokens: { limit: 5, windowMs: 1_000 } }, concurrency: 2 });
    const outcomes: Outcome<number, number>[] = await limiter.map([1, 9, 2, 9, 1], (n) => n * 2, {
      outcomes: true,
      costs: (n) => ({ tokens: n }),
    });
    expect(outcomes.map(({ status, request }) => `${request} ${status}`)).toEqual([
      '1 ok',
      '9 failed',
      '2 ok',
      '9 failed',
      '1 ok',
    ]);
    expect(outcomes[1]).toMatchObject({ error: expect.any(CostAboveLimitError) });
  });

  it('reads a long source without recursion', async () => {
    const { limiter } = rig({ concurrency: 50_000, adaptive: false });
    const results = await limiter.map(counted(20_000).numbers, (n) => n);
    expect(results.length).toBe(20_000);
    expect(results[19_999]).toBe(20_000);
  });

  it('refuses what is no source, no function and no option by name', () => {
    const { limiter } = rig();
    expect(() => limiter.map(5 as never, () => 1)).toThrow('`source` must be an iterable');
    expect(() => limiter.map([1], 5 as never)).toThrow('`fn` must be a function');
    expect(() => limiter.map([1], () => 1, { readAhead: 3 } as never)).toThrow('`readAhead`');
    expect(() => limiter.map([1], () => 1, { signal: 3 as never })).toThrow('`signal` must be');
  });
});
