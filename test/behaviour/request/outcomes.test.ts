import { concat, EMPTY, NEVER, of, range, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, Sized, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, failingWith, tooMany, watch } from '../../request/harness.ts';

describe('outcomes', () => {
  it('are one a request, and a failed one does not end the stream', async () => {
    const clock = new ManualClock();
    const error = new ApiError(400);
    const project = async (value: number) => {
      if (value % 3 === 1) throw error;
      return value * 10;
    };
    const seen = watch(range(0, 9).pipe(throttle(project, { clock, outcomes: true })));
    await clock.runAllAsync();
    expect(seen.state).toBe('complete');
    expect(seen.values.map(({ request }) => request).toSorted()).toEqual([...Array(9).keys()]);
    for (const outcome of seen.values) {
      expect(outcome).toMatchObject(
        outcome.request % 3 === 1
          ? { status: 'failed', error }
          : { status: 'ok', value: outcome.request * 10 },
      );
    }
  });

  it('have the waits of a request by gate, and its attempts', async () => {
    const clock = new ManualClock();
    const errors = [tooMany(), new ApiError(500), tooMany(700)];
    const { project } = failingWith(errors, () => clock.now());
    const first = () =>
      new Promise<string>((resolve) => {
        clock.setTimer(() => resolve('first'), 100);
      });
    const send = (value: string) => (value === 'a' ? first() : project());
    const options = {
      clock,
      adaptive: false,
      outcomes: true,
      concurrency: 1,
      random: () => 0.5,
    } as const;
    const source = of(new Sized('a', 8), new Sized('b', 20, 7));
    const seen = watch(source.pipe(throttle(send, options)));
    await clock.runAllAsync();
    expect(seen.values).toEqual([
      {
        status: 'ok',
        value: 'first',
        request: 'a',
        stats: { waits: {}, attempts: 1, bytes: 8, tokens: 2, durationMs: 100 },
      },
      {
        status: 'ok',
        value: 'done',
        request: 'b',
        stats: {
          waits: {
            concurrency: { waitMs: 100, rounds: 1 },
            backoff: { waitMs: 1700, rounds: 2 },
            retry: { waitMs: 250, rounds: 1 },
          },
          attempts: 4,
          bytes: 20,
          tokens: 7,
          durationMs: 2050,
        },
      },
    ]);
  });

  it('have the last value of an Observable, undefined of an empty one', async () => {
    const clock = new ManualClock();
    const inners = [
      of(1, 2, 3),
      EMPTY,
      concat(
        of(1),
        throwError(() => 'broken'),
      ),
    ];
    const project = (index: number) => inners[index] ?? NEVER;
    const seen = watch(range(0, 3).pipe(throttle(project, { clock, outcomes: true })));
    await clock.runAllAsync();
    expect(seen.values).toMatchObject([
      { status: 'ok', value: 3 },
      { status: 'ok', value: undefined },
      { status: 'failed', error: 'broken' },
    ]);
  });

  it('of a request that failed come when its Observable is torn down', () => {
    const clock = new ManualClock();
    const inner = new Subject<string>();
    const tornDown: boolean[] = [];
    throttle(() => inner, { clock, outcomes: true })(of('a')).subscribe(() =>
      tornDown.push(!inner.observed),
    );
    inner.error(new ApiError(400));
    expect(tornDown).toEqual([true]);
  });

  it('end with an error where the source fails, and nothing is held', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const source = concat(
      of(1, 2),
      throwError(() => 'of the source'),
    );
    const seen = watch(source.pipe(limiter.throttle(() => NEVER, { outcomes: true })));
    expect(seen.error).toBe('of the source');
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });
});

describe('without outcomes', () => {
  it('the first failure ends the stream, and nothing is held or sent any more', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 3 });
    const calls: number[] = [];
    const error = new ApiError(400);
    const project = async (value: number) => {
      calls.push(value);
      if (value === 1) throw error;
      return new Promise<never>(() => undefined);
    };
    const seen = watch(range(0, 10).pipe(limiter.throttle(project)));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 1, 2]);
    expect(seen).toMatchObject({ state: 'error', error, values: [] });
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(clock.pendingTimers).toBe(0);
  });
});
