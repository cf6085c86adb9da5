import { from, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Outcome, Sized } from '../../src/index.ts';
import { expectIdle, fate } from '../limiter/harness.ts';
import { rig } from '../limiter/rig.ts';
import { tooMany } from './harness.ts';

describe('limiter.throttle', () => {
  it('charges what a function says of each value', async () => {
    const { limiter } = rig({ limits: { units: { limit: 100, windowMs: 10 } } });
    const held = new Subject<void>();
    from([3, 4])
      .pipe(
        limiter.throttle(() => held, {
          costs: (units) => ({ units }),
          estimate: (bytes) => ({ bytes }),
        }),
      )
      .subscribe();
    expect(limiter.snapshot()).toMatchObject({
      rateLimit: { units: { used: 7 } },
      byteBudget: { used: 7 },
    });
  });

  it.each([
    ['with a slot free', 9],
    ['behind others', 1],
  ])(
    'fails a request that can never be sent, at once when its turn comes: %s',
    async (_n, slots) => {
      const { clock, limiter } = rig({
        concurrency: slots,
        limits: { units: { limit: 5, windowMs: 10 } },
        backoff: { reopen: 'all' },
      });
      const outcomes: Outcome<number, number>[] = [];
      let isComplete = false;
      const held = await limiter.acquire({ costs: { units: 0 } });
      from([1, 9, 2])
        .pipe(
          limiter.throttle(async (units) => units, {
            outcomes: true,
            costs: (units) => ({ units }),
          }),
        )
        .subscribe({ next: (one) => outcomes.push(one), complete: () => (isComplete = true) });
      await clock.advanceAsync(5);
      held.release();
      await clock.runAllAsync();
      expect(outcomes.map(({ status, request }) => [status, request]).sort()).toEqual([
        ['failed', 9],
        ['ok', 1],
        ['ok', 2],
      ]);
      expect(outcomes.find(({ status }) => status === 'failed')).toMatchObject({
        error: { code: 'COST_ABOVE_LIMIT', limit: 'units', cost: 9, maxCost: 5 },
        stats: { attempts: 0 },
      });
      expect(isComplete).toBe(true);
      expect(limiter.snapshot()).toMatchObject({ waiting: 0, ended: { rejected: 1 } });
      expectIdle(limiter);
    },
  );

  it.each([0, -1])(
    'loses none that can never be sent where it may not pass: behind priority %i',
    async (priority) => {
      const { clock, limiter } = rig({
        concurrency: 1,
        limits: { units: { limit: 5, windowMs: 10 } },
      });
      const held = await limiter.acquire();
      const controller = new AbortController();
      fate(limiter.acquire({ signal: controller.signal, priority }));
      const seen: Outcome<number, number>[] = [];
      from([9])
        .pipe(
          limiter.throttle(async (units) => units, {
            outcomes: true,
            costs: (units) => ({ units }),
          }),
        )
        .subscribe((one) => seen.push(one));
      // It comes to the head, gets its ticket, and no slot is free.
      controller.abort();
      await clock.advanceAsync(0);
      expect(seen).toMatchObject([{ status: 'failed', request: 9 }]);
      const drained = fate(limiter.drain());
      held.release();
      await clock.advanceAsync(0);
      expect(drained.state).toBe('ok');
      expect(limiter.snapshot().waiting).toBe(0);
      expectIdle(limiter);
    },
  );

  it('takes values that have their size, and sends again what is refused', async () => {
    const { clock, limiter } = rig({ adaptive: false, tokensPerMinute: 1000 });
    const errors = [tooMany(20), tooMany(20)];
    const values: number[] = [];
    from([new Sized('a', 10, 30), new Sized('b', 20, 40)])
      .pipe(
        limiter.throttle(async (value, context) => {
          const error = errors.shift();
          if (error !== undefined) throw error;
          context.recordTokens(value === 'a' ? 5 : 6);
          return clock.now();
        }),
      )
      .subscribe((value) => values.push(value));
    await clock.runAllAsync();
    expect(values).toEqual([20, 20]);
    // Both rejected attempts stay charged as estimated: the provider may count them.
    expect(limiter.snapshot().tokensUsed).toBe(30 + 40 + 5 + 6);
    expectIdle(limiter);
  });
});
