import { describe, expect, it } from 'vitest';
import {
  CostAboveLimitError,
  RateLimitExceededError,
  UnknownLimitError,
} from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { rig, script } from '../../limiter/rig.ts';
import { ApiError, pending, tooMany } from '../../request/harness.ts';

const units = { limits: { units: { limit: 10, windowMs: 1000 } } };

describe('run', () => {
  it('charges the given costs, and waits exactly until they fit', async () => {
    const { clock, limiter } = rig({
      limits: { units: { limit: 10, windowMs: 1000 }, requests: { limit: 10, windowMs: 1000 } },
    });
    await limiter.run(() => 'first', { costs: { units: 6 } });
    const at = fate(limiter.run(() => clock.now(), { costs: { units: 5 } }));
    const free = fate(limiter.run(() => clock.now(), { costs: { requests: 0 } }));
    expect(limiter.snapshot().rateLimit).toMatchObject({
      units: { used: 6 },
      requests: { used: 1 },
    });
    await clock.runAllAsync();
    expect([at.value, free.value]).toEqual([1000, 1000]);
    expect(limiter.snapshot().rateLimit).toMatchObject({ units: { used: 5 } });
    expectIdle(limiter);
  });

  it.each([
    [{ units: 11 }, CostAboveLimitError],
    [{ other: 1 }, UnknownLimitError],
  ])('with costs of %j rejects at once, though others wait', async (costs, error) => {
    const { clock, limiter } = rig({ ...units, concurrency: 1 });
    const call = pending<void>();
    void limiter.run(() => call.promise);
    let called = false;
    const ran = fate(limiter.run(() => (called = true), { costs: costs as { units: number } }));
    await clock.advanceAsync(0);
    expect(ran.error).toBeInstanceOf(error);
    expect(called).toBe(false);
    call.resolve();
    await clock.advanceAsync(0);
    expectIdle(limiter);
  });

  it('with costs of unknown limits rejects at once', async () => {
    const { limiter } = rig();
    const ran = limiter.run(() => 1, { costs: { units: 1 } });
    await expect(ran).rejects.toBeInstanceOf(UnknownLimitError);
    await expect(ran).rejects.toThrow('no limit is named "units"; there are none');
    expectIdle(limiter);
  });

  it('throws for costs of a limit without a name', () => {
    const { limiter } = rig(units);
    const run = () => limiter.run(() => 1, { costs: { '': 1 } });
    expect(run).toThrow('`costs` cannot have the name "": a name is not empty');
    expectIdle(limiter);
  });

  it("fails at once with `onLimit: 'fail'`, and says when to try again", async () => {
    const { clock, limiter } = rig({ ...units, onLimit: 'fail' });
    await limiter.run(() => 'first', { costs: { units: 10 } });
    await clock.advanceAsync(400);
    const ran = limiter.run(() => 'second', { costs: { units: 3 } });
    await expect(ran).rejects.toBeInstanceOf(RateLimitExceededError);
    await expect(ran).rejects.toMatchObject({
      limit: 'units',
      cost: 3,
      available: 0,
      retryAfterMs: 600,
    });
    expect(limiter.snapshot().ended).toMatchObject({ ok: 1, rejected: 1 });
    expectIdle(limiter);
  });

  it('goes by priority, first come first served within one', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const { started, run, end } = script(limiter);
    run('first');
    run('low 1', { priority: -1 });
    run('mid 1');
    run('high 1', { priority: 2 });
    run('mid 2', { priority: 0 });
    run('high 2', { priority: 2 });
    for (let index = 0; index < 6; index += 1) {
      end(started[index] as string);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['first', 'high 1', 'high 2', 'mid 1', 'mid 2', 'low 1']);
    expectIdle(limiter);
  });

  it('does not starve low priorities', async () => {
    const { clock, limiter } = rig({ concurrency: 1, agingMs: 100 });
    const { started, run, end } = script(limiter);
    run('first');
    run('low');
    await clock.advanceAsync(99);
    run('early', { priority: 1 });
    await clock.advanceAsync(2);
    run('late', { priority: 1 });
    for (let index = 0; index < 4; index += 1) {
      end(started[index] as string);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['first', 'early', 'low', 'late']);
  });

  it('settles what a task records, of the attempt that counts', async () => {
    const { clock, limiter } = rig({ tokensPerMinute: 100 });
    const errors = [tooMany(5)];
    const ran = fate(
      limiter.run(
        (context) => {
          context.recordTokens(20);
          context.recordTokens(5);
          const error = errors.shift();
          if (error !== undefined) throw error;
        },
        { tokens: 60 },
      ),
    );
    expect(limiter.snapshot().tokensUsed).toBe(25);
    await clock.runAllAsync();
    expect(ran.state).toBe('ok');
    expect(limiter.snapshot().tokensUsed).toBe(50);
  });

  it('refuses wrong recorded amounts, and ignores those of an ended attempt', async () => {
    const { limiter } = rig({ tokensPerMinute: 100 });
    const record = await limiter.run(
      (context) => {
        expect(() => context.recordTokens(Number.NaN)).toThrow('`tokens` must be');
        return (amount: number) => context.recordTokens(amount);
      },
      { tokens: 10 },
    );
    record(50);
    expect(limiter.snapshot().tokensUsed).toBe(10);
  });

  it('is not retried after `doNotRetry()` of its task', async () => {
    const { limiter } = rig({ adaptive: false });
    let calls = 0;
    const ran = limiter.run((context) => {
      calls += 1;
      context.doNotRetry();
      throw tooMany(500);
    });
    await expect(ran).rejects.toMatchObject({ status: 429 });
    expect(calls).toBe(1);
    // The answer counts all the same.
    expect(limiter.snapshot()).toMatchObject({
      backoff: { closedForMs: 500 },
      ended: { failed: 1 },
    });
  });

  it('fails at once while the circuit is open, though no slot is free', async () => {
    const { limiter } = rig({ concurrency: 1, circuitBreaker: { consecutiveFailures: 1 } });
    await limiter.acquire();
    limiter.recordFailure(new ApiError(500));
    await expect(limiter.run(() => 1)).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' });
    await expect(limiter.acquire({ bytes: 1 })).rejects.toMatchObject({ retryAfterMs: 30_000 });
    expect(limiter.snapshot()).toMatchObject({ waiting: 0, ended: { rejected: 2 } });
  });

  it('fails with the open circuit, if it opens between two attempts', async () => {
    const { clock, limiter } = rig({ circuitBreaker: { consecutiveFailures: 1 } });
    let calls = 0;
    const ran = fate(
      limiter.run(() => {
        calls += 1;
        throw new ApiError(500);
      }),
    );
    await clock.advanceAsync(5000);
    expect(ran.error).toMatchObject({ code: 'CIRCUIT_OPEN' });
    expect(calls).toBe(1);
    expect(limiter.snapshot().ended).toMatchObject({ failed: 1, rejected: 0 });
    expectIdle(limiter);
  });
});

describe('the options of a request are copied', () => {
  it('and later changes of the object have no effect', async () => {
    const limits = { credits: { limit: 100, windowMs: 60_000 } };
    const { clock, limiter } = rig({ concurrency: 1, tokensPerMinute: 1_000, limits });
    const options = { tokens: 0, priority: 0, costs: { credits: 0 } };
    const order: number[] = [];
    const done = [1, 2, 3].map((n) => {
      options.tokens = n;
      options.priority = n;
      options.costs.credits = 10 * n;
      return limiter.run(async () => void order.push(n), options);
    });
    options.tokens = Number.NaN;
    options.costs.credits = Number.NaN;
    await clock.advanceAsync(0);
    await Promise.all(done);
    const { tokens, credits } = limiter.snapshot().rateLimit ?? {};
    expect([tokens?.used, credits?.used]).toEqual([6, 60]);
    expect(order).toEqual([1, 3, 2]);
  });

  it('and a later request without costs has none', async () => {
    const { limiter } = rig({ limits: { credits: { limit: 100, windowMs: 60_000 } } });
    await limiter.run(async () => {}, { costs: { credits: 10 } });
    await limiter.run(async () => {}, { priority: 0 });
    expect(limiter.snapshot().rateLimit?.credits?.used).toBe(10);
  });

  it('never age with `agingMs: Infinity`: a higher priority goes first, however late it comes', async () => {
    const { clock, limiter } = rig({ concurrency: 1, agingMs: Number.POSITIVE_INFINITY });
    const { started, run, end } = script(limiter);
    for (const name of ['first', 'a', 'b']) run(name);
    await clock.advanceAsync(500_000);
    run('low', { priority: -1 });
    run('high', { priority: 1 });
    for (const name of ['first', 'high', 'a', 'b']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['first', 'high', 'a', 'b', 'low']);
  });
});
