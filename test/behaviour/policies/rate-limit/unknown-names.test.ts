import { from, of } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import {
  type AttemptContext,
  createLimiter,
  createLimiterGroup,
  type Limiter,
  rateLimit,
  throttle,
  UnknownLimitError,
} from '../../../../src/index.ts';
import { ManualClock } from '../../../../src/simulator/manual-clock.ts';
import { expectIdle } from '../../../limiter/harness.ts';
import { watch } from '../../../request/harness.ts';

const images = { limit: 10, windowMs: 1_000 };
const MESSAGE = 'no limit is named "image"; did you mean "images"? There are "images"';

describe('a cost of a limit that there is none', () => {
  it('says which name was meant, from `run` as from a stream', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, limits: { images } });
    const costs = () => ({ image: 1 });
    const ran = limiter.run(async () => 1, { costs: costs() });
    await expect(ran).rejects.toThrow(MESSAGE);
    const project = async (value: number) => value;
    const shared = watch(of(1).pipe(limiter.throttle(project, { costs })));
    const alone = watch(of(1).pipe(throttle(project, { clock, limits: { images }, costs })));
    await clock.runAllAsync();
    for (const { error } of [shared, alone]) {
      expect(error).toBeInstanceOf(UnknownLimitError);
      expect(error).toMatchObject({ message: MESSAGE, limit: 'image', known: ['images'] });
    }
    expectIdle(limiter);
  });

  it('fails in a stream without limits too, the request alone with outcomes', async () => {
    const clock = new ManualClock();
    const costs = (value: number): Record<string, number> =>
      value === 1 ? { images: 1 } : { requests: 2 };
    const options = { clock, costs, outcomes: true } as const;
    const seen = watch(from([0, 1, 2]).pipe(throttle(async (value: number) => value, options)));
    await clock.runAllAsync();
    expect(seen.values.map(({ request, status }) => `${request} ${status}`).toSorted()).toEqual([
      '0 ok',
      '1 failed',
      '2 ok',
    ]);
    expect(seen.values.find(({ status }) => status === 'failed')).toMatchObject({
      error: { message: 'no limit is named "images"; there are none' },
    });
  });
});

describe('a record of a limit that there is none', () => {
  const recording = (limit: string) => async (_value: unknown, context: AttemptContext) => {
    context.record(limit, 1);
    return 'ok';
  };

  it('fails the request once, and says which name was meant', async () => {
    const clock = new ManualClock();
    const limits = { images: { ...images, charge: 'settle' } } as const;
    const limiter = createLimiter({ clock, limits });
    const group = createLimiterGroup(() => 'a', { clock, shared: { limits } });
    const send = recording('image');
    let calls = 0;
    const ran = limiter.run(async (context) => {
      calls += 1;
      return send(1, context);
    });
    await expect(ran).rejects.toThrow(MESSAGE);
    expect(calls).toBe(1);
    const streams = [
      throttle(send, { clock, limits }),
      limiter.throttle(send),
      group.throttle(send),
    ];
    for (const operator of streams) {
      const seen = watch(of(1).pipe(operator));
      await clock.advanceAsync(0);
      expect(seen.error).toMatchObject({ name: 'UnknownLimitError', message: MESSAGE });
    }
    const lease = await limiter.acquire();
    expect(() => lease.record('image', 1)).toThrow(MESSAGE);
    lease.release();
    expectIdle(limiter);
  });

  it.each([
    'images',
    'requests',
    'tokens',
    'bytes',
    'cost',
    'inputTokens',
    'cachedTokens',
    'outputTokens',
  ])('%s is known', async (name) => {
    const clock = new ManualClock();
    const limits = { images: { ...images, charge: 'settle' } } as const;
    const limiter = createLimiter({ clock, limits });
    const group = createLimiterGroup(() => 'a', { clock, shared: { limits } });
    const send = recording(name);
    expect(await limiter.run((context) => send(1, context))).toBe('ok');
    expect(await group.run('a', (context) => send(1, context))).toBe('ok');
    const seen = watch(of(1).pipe(throttle(send, { clock, limits })));
    await clock.advanceAsync(0);
    expect(seen.values).toEqual(['ok']);
  });

  it('is no error where the limit was removed while the request ran', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, limits: { images: { ...images, charge: 'settle' } } });
    const ran = limiter.run(async (context) => {
      limiter.configure({ limits: { images: null } });
      context.record('images', 1);
      return 'ok';
    });
    expect(await ran).toBe('ok');
  });
});

describe('a limit that no request of a stream is charged', () => {
  const project = async (value: number) => value;
  const limits = { rpm: images };
  const costs = () => ({});
  const MESSAGE =
    '`limits.rpm` would never be charged: give `costs`, or name it `requests`, `tokens` or `bytes`';

  it('is refused at once', () => {
    const limiter = createLimiter({ limits });
    for (const wrong of [
      () => throttle(project, { limits }),
      () => rateLimit({ limits }),
      () => limiter.throttle(project),
      () => limiter.throttleFrom([1], project),
    ]) {
      expect(wrong).toThrow(new TypeError(MESSAGE));
    }
    expect(() => limiter.map([1], project)).toThrow(MESSAGE);
  });

  it('fails the stream of a group, as its own limit or as a shared one', () => {
    for (const options of [
      { each: { limits } },
      { each: () => ({ limits }) },
      { shared: { limits } },
    ]) {
      const group = createLimiterGroup((_: number) => 'a', options);
      expect(watch(of(1).pipe(group.throttle(project))).error).toEqual(new TypeError(MESSAGE));
      expect(watch(of(1).pipe(group.throttle(project, { costs }))).error).toBeUndefined();
    }
  });

  it('is none where something may charge it', () => {
    const settled = { ...images, charge: 'settle' } as const;
    expect(() => throttle(project, { limits: { rpm: settled } })).not.toThrow();
    expect(() => throttle(project, { limits, costs })).not.toThrow();
    expect(() => throttle(project, { limits: { bytes: images } })).not.toThrow();
    expect(() => rateLimit({ limits, costs })).not.toThrow();
    expect(() => createLimiter({ limits }).throttle(project, { costs })).not.toThrow();
  });
});

describe('a limit that no call is charged', () => {
  const warningsOf = (limit: string, call: (limiter: Limiter) => unknown): readonly unknown[] => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const limiter = createLimiter({ clock: new ManualClock(), limits: { [limit]: images } });
    for (let n = 1; n < 10; n += 1) void limiter.run(async () => n);
    expect(warn).not.toHaveBeenCalled();
    for (let n = 0; n < 10; n += 1) call(limiter);
    const warnings = warn.mock.calls.map(([warning]) => warning);
    warn.mockRestore();
    return warnings;
  };
  const MESSAGE =
    'headgate: `limits.rps` would never be charged: give `costs`, or name it `requests`, `tokens` or `bytes`';

  it('is warned of once, after ten calls', () => {
    expect(warningsOf('rps', (limiter) => limiter.run(async () => 1))).toEqual([MESSAGE]);
    expect(warningsOf('rps', (limiter) => limiter.tryAcquire())).toEqual([]);
  });

  it('is no mistake where a call or a stream has costs', () => {
    const priced = (limiter: Limiter) => limiter.run(async () => 1, { costs: { rpd: 1 } });
    expect(warningsOf('rpd', priced)).toEqual([]);
    const streamed = (limiter: Limiter) => {
      of(1)
        .pipe(limiter.throttle(async (n) => n, { costs: () => ({ rph: 1 }) }))
        .subscribe();
      return limiter.run(async () => 1);
    };
    expect(warningsOf('rph', streamed)).toEqual([]);
  });
});

describe('a limit on tokens that no call is charged', () => {
  type Call = (limiter: Limiter) => Promise<unknown>;
  const warningsOf = async (call: Call, charge: 'upfront' | 'settle' = 'settle') => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const limits = { tokens: { limit: 1_000, windowMs: 1_000, charge } };
    const limiter = createLimiter({ clock: new ManualClock(), limits });
    for (let n = 1; n <= 20; n += 1) {
      await call(limiter);
      if (n < 10) expect(warn).not.toHaveBeenCalled();
    }
    const warnings = warn.mock.calls.map(([warning]) => warning);
    warn.mockRestore();
    return warnings;
  };
  const answer: Call = (limiter) => limiter.run(async () => ({ usage: { total_tokens: 5 } }));
  const text: Call = (limiter) => limiter.run(async () => 'text');

  it('is no mistake where calls give tokens, or answers report them', async () => {
    const given: Call = (limiter) => limiter.run(async () => 'text', { tokens: 5 });
    const sized: Call = (limiter) => limiter.run(async () => 'text', { bytes: 5 });
    const priced: Call = (limiter) => limiter.run(async () => 'text', { costs: {} });
    const told: Call = (limiter) => limiter.run(({ recordTokens }) => recordTokens(0));
    for (const call of [given, sized, priced, told, answer]) {
      expect(await warningsOf(call)).toEqual([]);
    }
    expect(await warningsOf(given, 'upfront')).toEqual([]);
  });

  it('is warned of once, after ten successful calls', async () => {
    expect(await warningsOf(answer, 'upfront')).toEqual([
      "headgate: `limits.tokens` would never be charged: give calls `tokens`; with `charge: 'settle'` return answers with `usage`, or call `context.recordTokens`",
    ]);
    expect(await warningsOf(text)).toEqual([]);
  });
});

it('a limit on bytes that no call is charged is warned of', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const limits = { bytes: { limit: 1_000, windowMs: 1_000 } };
  const warningsAfter = async (bytes: number) => {
    const limiter = createLimiter({ clock: new ManualClock(), limits });
    await limiter.run(async () => 'text', { bytes });
    for (let n = 1; n <= 10; n += 1) await limiter.run(async () => 'text');
    return warn.mock.calls.map(([warning]) => warning);
  };
  expect(await warningsAfter(1)).toEqual([]);
  expect(await warningsAfter(0)).toEqual([
    'headgate: `limits.bytes` would never be charged: give calls `bytes`',
  ]);
  warn.mockRestore();
});
