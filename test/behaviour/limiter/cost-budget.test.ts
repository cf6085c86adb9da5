import { concat, from, lastValueFrom, NEVER, of, toArray } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { limiterOptionsFromEnv, mergeLimiterOptions } from '../../../src/index.ts';
import { createLimiterGroup } from '../../../src/limiter/group.ts';
import { createLimiter, type Limiter } from '../../../src/limiter/limiter.ts';
import type { GaugeSnapshot } from '../../../src/model/gauge.ts';
import { costBudget } from '../../../src/operators/cost-budget.ts';
import { dispatch } from '../../../src/operators/dispatch.ts';
import { throttle } from '../../../src/operators/throttle.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

const BUDGET = { maxCost: 1, windowMs: 1_000 };

describe('a cost budget', () => {
  it('holds the requests of a limiter back until the window has rolled', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, costBudget: BUDGET });
    const sentAt: number[] = [];
    const runs = [0.5, 0.5, 0.5].map((cost) =>
      limiter.run(
        (context) => {
          sentAt.push(clock.now());
          context.recordCost(cost);
        },
        { costs: { cost } },
      ),
    );
    await clock.advanceAsync(0);
    expect(limiter.snapshot()).toMatchObject({
      binding: 'costBudget',
      waiting: 1,
      costBudget: { used: 1, available: 0, maxCost: 1 },
    });
    await clock.advanceAsync(1_000);
    await Promise.all(runs);
    expect(sentAt).toEqual([0, 0, 1_000]);
  });

  it('fails what waits once a budget for all is spent, and can be raised before and after', async () => {
    const clock = new ManualClock();
    const budget = { maxCost: 1, windowMs: Number.POSITIVE_INFINITY };
    const limiter = createLimiter({ clock, concurrency: 2, costBudget: budget });
    const codes: string[] = [];
    const run = () =>
      limiter
        .run(
          async (context) => {
            await new Promise<void>((resolve) => clock.setTimer(resolve, 10));
            context.recordCost(0.25);
          },
          { costs: { cost: 0.5 } },
        )
        .then(
          () => codes.push('ok'),
          (error) => codes.push(`${error.code} ${error.limit}`),
        );
    for (let index = 0; index < 5; index += 1) run();
    await clock.advanceAsync(0);
    expect(limiter.snapshot()).toMatchObject({ waiting: 3, costBudget: { available: 0 } });
    // Each of the first three costs less than its estimate: the fourth does not fit any more.
    await clock.advanceAsync(20);
    expect(codes).toEqual(['ok', 'ok', 'ok', ...Array(2).fill('RATE_LIMIT_EXCEEDED costBudget')]);
    limiter.configure({ costBudget: { ...budget, maxCost: 2 } });
    const after = run();
    await clock.advanceAsync(10);
    await after;
    expect(codes.at(-1)).toBe('ok');
    expect(limiter.snapshot().costBudget).toMatchObject({ maxCost: 2, used: 1 });
  });

  it('fails the waiting requests of all keys once a shared budget for all is spent', async () => {
    const clock = new ManualClock();
    const costBudgetForAll = { maxCost: 1, windowMs: Number.POSITIVE_INFINITY };
    const group = createLimiterGroup((key: string) => key, {
      clock,
      shared: { costBudget: costBudgetForAll },
    });
    const results = ['a', 'b', 'a', 'b', 'c'].map((key) =>
      group
        .run(
          key,
          async (context) => {
            await new Promise<void>((resolve) => clock.setTimer(resolve, 10));
            context.recordCost(0.5);
          },
          { costs: { cost: 0.5 } },
        )
        .then(
          () => 'ok',
          (error) => error.code,
        ),
    );
    await clock.advanceAsync(10);
    const spent = 'RATE_LIMIT_EXCEEDED';
    expect(await Promise.all(results)).toEqual(['ok', 'ok', spent, spent, spent]);
  });

  it('is settled by what a lease records', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, costBudget: BUDGET });
    const lease = await limiter.acquire({ costs: { cost: 0.75 } });
    expect(limiter.snapshot().costBudget?.used).toBe(0.75);
    lease.recordCost(0.125);
    lease.recordCost(0.125);
    lease.release();
    expect(limiter.snapshot().costBudget?.used).toBe(0.25);
    expect(() => lease.recordCost(-1)).toThrow('`cost` must be a finite number >= 0, got -1');
  });

  it.each([
    [
      'OpenAI',
      { prompt_tokens: 300, prompt_tokens_details: { cached_tokens: 200 }, completion_tokens: 40 },
    ],
    ['Anthropic', { input_tokens: 100, cache_read_input_tokens: 200, output_tokens: 40 }],
  ])('is settled by the usage in answers of %s', async (_, usage) => {
    const clock = new ManualClock();
    const prices = { inputPrice: 1_000, cachedPrice: 100, outputPrice: 10_000 };
    const options = { clock, costBudget: { maxCost: 100, windowMs: 1_000, ...prices } };
    const limiter = createLimiter(options);
    await limiter.run(async () => ({ usage }));
    expect(limiter.snapshot().costBudget?.used).toBe(0.1 + 0.02 + 0.4);
    await limiter.run(async (context) => context.observe({ usage }) && 'text');
    expect(limiter.snapshot().costBudget?.used).toBe(1.04);
  });

  it.each([
    ['its connection breaks', { code: 'ECONNRESET' }],
    ['it takes too long', { name: 'TimeoutError' }],
    ['an error comes in it', { error: { type: 'overloaded_error' } }],
  ])('keeps the estimate of a streamed answer if %s', async (_, fields) => {
    const costBudget = { maxCost: 100, windowMs: 60_000, inputPrice: 1, outputPrice: 1_000 };
    const limiter = createLimiter({ clock: new ManualClock(), costBudget, maxAttempts: 1 });
    const event = { message: { usage: { input_tokens: 1_000, output_tokens: 1 } } };
    const run = limiter.run(
      ({ observe }) => {
        observe(event);
        throw Object.assign(new Error('broken off'), fields);
      },
      { tokens: 1_000 },
    );
    await expect(run).rejects.toThrow('broken off');
    expect(limiter.snapshot().costBudget?.used).toBe(1.001);
  });

  it.each(['cancelled', 'late'])(
    'keeps the estimate of a streamed answer that is broken off (%s)',
    async (how) => {
      const clock = new ManualClock();
      const prices = { inputPrice: 1, outputPrice: 1_000 };
      const limiter = createLimiter({
        clock,
        costBudget: { maxCost: 100, windowMs: 60_000, ...prices },
        ...(how === 'late' && { deadlineMs: 10 }),
      });
      // The first event of a stream of Anthropic, which counts one token of output.
      const event = { message: { usage: { input_tokens: 1_000, output_tokens: 1 } } };
      const estimate = () => ({ bytes: 0, tokens: 1_000 });
      const events = of(1).pipe(limiter.throttle(() => concat(of(event), NEVER), { estimate }));
      const stream = events.subscribe({ error: () => {} });
      const call = new AbortController();
      const run = limiter
        .run(({ observe }) => observe(event) && new Promise(() => {}), {
          tokens: 1_000,
          signal: call.signal,
        })
        .catch(() => {});
      await clock.advanceAsync(10);
      if (how === 'cancelled') {
        stream.unsubscribe();
        call.abort();
      }
      await run;
      // The price of 1,000 tokens of input and, as no answer is known, of 1,000 of output.
      expect(limiter.snapshot().costBudget?.used).toBe(2.002);
      limiter.tryAcquire({ tokens: 1_000 });
      expect(limiter.snapshot().costBudget?.used).toBe(3.003);
    },
  );

  it('fails a request that costs more than the budget at once', async () => {
    const limiter = createLimiter({ clock: new ManualClock(), costBudget: BUDGET });
    await limiter.acquire({ costs: { cost: 1 } });
    await expect(limiter.run(() => 1, { costs: { cost: 1.5 } })).rejects.toMatchObject({
      code: 'COST_ABOVE_LIMIT',
      limit: 'costBudget',
      cost: 1.5,
    });
  });

  it('holds a stream back, as an operator and in throttle', async () => {
    const clock = new ManualClock();
    const costs = () => ({ cost: 0.5 });
    const sentAt: number[] = [];
    const send = async () => sentAt.push(clock.now());
    const streams = [
      from([1, 2, 3]).pipe(throttle(send, { clock, costBudget: BUDGET, costs })),
      from([1, 2, 3]).pipe(costBudget({ clock, ...BUDGET, costs }), dispatch(send, { clock })),
    ].map((stream) => lastValueFrom(stream.pipe(toArray())));
    await clock.advanceAsync(1_000);
    await Promise.all(streams);
    expect(sentAt).toEqual([0, 0, 0, 0, 1_000, 1_000]);
  });

  it('can be shared by the keys of a group', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup(String, { clock, shared: { costBudget: BUDGET } });
    const sentAt: number[] = [];
    const runs = ['a', 'b', 'c'].map((key) =>
      group.run(key, () => sentAt.push(clock.now()), { costs: { cost: 0.5 } }),
    );
    await clock.advanceAsync(1_000);
    await Promise.all(runs);
    expect(sentAt).toEqual([0, 0, 1_000]);
    expect(group.snapshot().shared?.costBudget).toMatchObject({ used: 0.5 });
  });

  it('changes while requests wait', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, costBudget: BUDGET });
    await limiter.acquire({ costs: { cost: 1 } });
    const lease = limiter.acquire({ costs: { cost: 1 } });
    limiter.configure({ costBudget: { maxCost: 2, windowMs: 1_000 } });
    await lease;
    expect(limiter.snapshot().costBudget).toMatchObject({ used: 2, maxCost: 2 });
    expect(() => createLimiter({ clock }).configure({ costBudget: BUDGET })).toThrow(
      '`costBudget` cannot change: the limiter was made without one',
    );
  });

  it('is read from the environment, and merged option by option', () => {
    const env = { HEADGATE_COST_BUDGET_MAX_COST: '20', HEADGATE_COST_BUDGET_WINDOW_MS: '3600000' };
    const fromEnv = limiterOptionsFromEnv('HEADGATE', env);
    expect(fromEnv).toEqual({ costBudget: { maxCost: 20, windowMs: 3_600_000 } });
    expect(mergeLimiterOptions({ costBudget: { maxCost: 5 } }, fromEnv)).toEqual({
      costBudget: { maxCost: 5, windowMs: 3_600_000 },
    });
    expect(() => createLimiter({ costBudget: { maxCost: 5 } as never })).toThrow(
      '`costBudget.windowMs` must be a number >= 1 or Infinity, got undefined',
    );
  });

  it('reports its gauges', async () => {
    let read: (() => GaugeSnapshot) | undefined;
    const instrumentation = {
      opened(reading: () => GaugeSnapshot) {
        read = reading;
        return () => {};
      },
    };
    const limiter = createLimiter({
      clock: new ManualClock(),
      costBudget: BUDGET,
      instrumentation: instrumentation,
    });
    await limiter.acquire({ costs: { cost: 0.25 } });
    expect(read?.().gauges).toMatchObject({ costUsed: 0.25, costLimit: 1 });
  });
});

it('the first answer alone determines the estimate of the next request', async () => {
  const clock = new ManualClock();
  const costBudget = { maxCost: 10, windowMs: 60_000, inputPrice: 1, outputPrice: 10 };
  const limiter = createLimiter({ clock, costBudget });
  const reserved: number[] = [];
  let before = 0;
  const used = () => limiter.snapshot().costBudget?.used ?? 0;
  const ask = async () => {
    reserved.push(used() - before);
    return { usage: { prompt_tokens: 40, completion_tokens: 60 } };
  };
  for (let n = 0; n < 3; n += 1) {
    await limiter.run(ask, { bytes: 160 });
    before = used();
  }
  // 40 tokens at 1 and, before the first answer, 1,000 at 10 for a million; then 60.
  expect(reserved[0]).toBeCloseTo(0.01004, 6);
  expect(reserved[1]).toBeCloseTo(0.00064, 6);
  expect(reserved[2]).toBeCloseTo(0.00064, 6);
});

describe('a cost budget without prices', () => {
  const warningsOf = async (
    send: (limiter: Limiter, call: number) => Promise<unknown>,
    prices: { inputPrice: number; outputPrice: number } | undefined = undefined,
  ): Promise<readonly unknown[]> => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const limiter = createLimiter({
      clock: new ManualClock(),
      costBudget: { ...BUDGET, ...prices },
    });
    for (let call = 1; call <= 20; call += 1) {
      await send(limiter, call).catch(() => {});
      if (call < 10) expect(warn).not.toHaveBeenCalled();
    }
    const warnings = warn.mock.calls.map(([warning]) => warning);
    warn.mockRestore();
    return warnings;
  };
  const free = async (limiter: Limiter) => limiter.run(async () => 'answer');

  it('is no mistake where a cost is recorded or given, or where calls fail', async () => {
    const recorded = async (limiter: Limiter) => limiter.run((context) => context.recordCost(0));
    expect(await warningsOf(recorded)).toEqual([]);
    const later = async (limiter: Limiter, call: number) =>
      limiter.run(({ recordCost }) => (call === 10 ? recordCost(0.01) : 'answer'));
    expect(await warningsOf(later)).toEqual([]);
    const given = async (limiter: Limiter) => limiter.run(() => 'answer', { costs: { cost: 0 } });
    expect(await warningsOf(given)).toEqual([]);
    const failed = async (limiter: Limiter) =>
      limiter.run(() => Promise.reject(Object.assign(new Error('no'), { status: 400 })));
    expect(await warningsOf(failed)).toEqual([]);
    expect(await warningsOf(free, { inputPrice: 1, outputPrice: 2 })).toEqual([]);
  });

  it('is warned of once, after ten successful calls without a cost', async () => {
    expect(await warningsOf(free)).toEqual([
      'headgate: `costBudget` would never be charged: give prices, or `costs: { cost }`, or call `context.recordCost`',
    ]);
    expect(await warningsOf(free)).toEqual([]);
  });
});
