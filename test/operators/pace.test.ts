import { of, range } from 'rxjs';
import { describe, expect, it, test, vi } from 'vitest';
import { dispatch, FeedbackSubject, pace, throttle } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { failingWith, tooMany, watch } from '../request/harness.ts';
import { marbles, sending } from '../support/marbles.ts';

/** When each of so many requests that come at once is sent. */
async function timesOf(count: number, options: Parameters<typeof pace>[0]): Promise<number[]> {
  const clock = new ManualClock();
  const times: number[] = [];
  const send = async () => void times.push(clock.now());
  watch(range(0, count).pipe(pace({ ...options, clock }), dispatch(send, { clock })));
  await clock.runAllAsync();
  expect(times).toHaveLength(count);
  return times;
}

describe('pace', () => {
  test('leaves an interval between two requests, in order', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const paced = pace<string>({ intervalMs: 4, jitter: 0, clock });
      const source = cold('(abc)-------------d|');
      expectObservable(source.pipe(paced, sending(1, clock))).toBe('a---b---c---------d|');
    });
  });

  it('is 200 ms, plus up to half of that at random', async () => {
    expect(await timesOf(3, { random: () => 0 })).toEqual([0, 200, 400]);
    expect(await timesOf(3, { random: () => 0.5 })).toEqual([0, 250, 500]);
    const draws = [0, 0.99, 0.5];
    expect(await timesOf(4, { intervalMs: 100, random: () => draws.shift() ?? 0 })).toEqual([
      0, 100, 249.5, 374.5,
    ]);
  });

  it('applies to every attempt', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock, backoffMs: 10 });
    const { calls, project } = failingWith([tooMany()], () => clock.now());
    const paced = pace<string>({ intervalMs: 100, jitter: 0, feedback });
    watch(of('a', 'b').pipe(paced, dispatch(project, { feedback })));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 100, 200]);
  });

  it('paces each subscription on its own, and leaves no timer when unsubscribed', () => {
    const clock = new ManualClock();
    const paced = range(0, 2).pipe(pace({ intervalMs: 100, jitter: 0, clock }));
    const [one, other] = [watch(paced), watch(paced)];
    expect([one.values.length, other.values.length]).toEqual([1, 1]);
    one.subscription.unsubscribe();
    other.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [
      'throws',
      (): number => {
        throw new Error('no');
      },
    ],
    ['draws no number', () => Number.NaN],
    ['draws too much', () => 1e9],
  ])('goes on without jitter if `random` %s', async (_what, random) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    expect(await timesOf(3, { random })).toEqual([0, 200, 400]);
    const clock = new ManualClock();
    const limits = { requests: { limit: 9, windowMs: 1e6 } };
    const options = { pace: { intervalMs: 50 }, limits, random, clock };
    const times: number[] = [];
    const send = async () => void times.push(clock.now());
    watch(range(0, 3).pipe(throttle(send, options)));
    await clock.runAllAsync();
    expect(times).toEqual([0, 50, 100]);
    expect(warn).toHaveBeenCalledTimes(2);
    warn.mockRestore();
  });

  it('refuses wrong options, each by its name', () => {
    const wrong: [object, RegExp][] = [
      [{ intervalMs: -1 }, /`intervalMs`.*got -1/],
      [{ maxIntervalMs: 1 }, /`maxIntervalMs`/],
      [{ jitter: 2 }, /`jitter`/],
      [{ random: 4 }, /`random`/],
      [{ interval: 4 }, /interval/],
      [{ reclaimAfterMs: Number.NaN }, /`reclaimAfterMs`.*NaN/],
    ];
    for (const [options, message] of wrong) expect(() => pace(options)).toThrow(message);
  });
});
