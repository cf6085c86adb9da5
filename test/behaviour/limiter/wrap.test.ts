import { describe, expect, it } from 'vitest';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { rig } from '../../limiter/rig.ts';
import { ApiError, pending, tooMany } from '../../request/harness.ts';

describe('a wrapped function', () => {
  it('is called with its arguments and its `this`, and returns what it returns', async () => {
    const { limiter } = rig();
    class Client {
      readonly name = 'client';
      readonly complete = limiter.wrap(async function (this: Client, a: number, b: string) {
        return `${this.name} ${a} ${b}`;
      });
    }
    expect(await new Client().complete(1, 'two')).toBe('client 1 two');
    const sum = limiter.wrap((...numbers: number[]) => numbers.reduce((a, b) => a + b, 0));
    expect(await sum(1, 2, 3)).toBe(6);
    expect(limiter.snapshot().ended.ok).toBe(2);
  });

  it('waits for its turn, and is called again after a 429', async () => {
    const { clock, limiter } = rig({ adaptive: false, concurrency: 1 });
    const errors = [tooMany(40), tooMany(30)];
    const calls: [number, string][] = [];
    const send = limiter.wrap(async (name: string) => {
      calls.push([clock.now(), name]);
      const error = errors.shift();
      if (error !== undefined) throw error;
      return name;
    });
    const told = [fate(send('a')), fate(send('b'))];
    await clock.runAllAsync();
    expect(told.map(({ value }) => value)).toEqual(['a', 'b']);
    expect(calls).toEqual([
      [0, 'a'],
      [40, 'a'],
      [70, 'a'],
      [70, 'b'],
    ]);
    expectIdle(limiter);
  });

  it('rejects with the error of the function, thrown or rejected', async () => {
    const { limiter } = rig();
    const rejects = limiter.wrap(() => Promise.reject(new ApiError(404)));
    const throws = limiter.wrap(() => {
      throw new Error('thrown');
    });
    await expect(rejects()).rejects.toMatchObject({ status: 404 });
    await expect(throws()).rejects.toThrow('thrown');
    expectIdle(limiter);
  });

  it('has the same options for each request, or those that a function returns', async () => {
    const { limiter } = rig({ limits: { tokens: { limit: 100, windowMs: 1000 } } });
    const call = pending<void>();
    const same = limiter.wrap(() => call.promise, { bytes: 5, tokens: 7 });
    const said = limiter.wrap(
      (_text: string, _times: number) => call.promise,
      (text, times) => ({
        bytes: text.length * times,
        tokens: times,
      }),
    );
    void same();
    void said('four', 3);
    void said('a', 2);
    expect(limiter.snapshot()).toMatchObject({ byteBudget: { used: 19 }, tokensUsed: 12 });
    call.resolve();
    await call.promise;
  });

  it('takes no options where the options function returns none', async () => {
    const { limiter } = rig();
    const send = limiter.wrap(
      (word: string) => word.length,
      (word) => (word === 'now' ? { priority: 1 } : undefined),
    );
    expect(await Promise.all([send('later'), send('now')])).toEqual([5, 3]);
  });

  it('takes a signal from its arguments', async () => {
    const { limiter } = rig({ concurrency: 1 });
    const held = await limiter.acquire();
    const { signal } = new AbortController();
    const controller = new AbortController();
    const send = limiter.wrap(
      (_signal: AbortSignal) => 'sent',
      (given) => ({ signal: given }),
    );
    const waits = send(signal);
    const leaves = send(controller.signal);
    controller.abort(new Error('enough'));
    held.release();
    await expect(leaves).rejects.toMatchObject({ message: 'enough' });
    await expect(waits).resolves.toBe('sent');
  });

  it('rejects, and does not throw, if the options function throws or returns wrong options', async () => {
    const { limiter } = rig();
    let calls = 0;
    const send = () => {
      calls += 1;
    };
    const throws = limiter.wrap(send, () => {
      throw new Error('of the options');
    });
    const wrong = limiter.wrap(send, () => ({ bytes: Number.NaN }));
    const [one, two] = [throws(), wrong()];
    await expect(one).rejects.toThrow('of the options');
    await expect(two).rejects.toThrow('`bytes` must be a finite number >= 0, got NaN');
    expect(calls).toBe(0);
    expectIdle(limiter);
  });

  it('with wrong options throws when it is wrapped', () => {
    const { limiter } = rig();
    const wrap = (fn: unknown, options?: unknown) => () =>
      limiter.wrap(fn as () => void, options as () => object);
    expect(wrap('x')).toThrow('`fn` must be a function, got "x"');
    expect(wrap(() => 1, { byte: 5 })).toThrow('`byte` is no option of a call');
    expect(wrap(() => 1, { bytes: -1 })).toThrow('`bytes` must be a finite number >= 0, got -1');
    expect(wrap(() => 1, 5)).toThrow('the options of a call must be an object, got 5');
  });
});
