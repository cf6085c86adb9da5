import { concatMap, from, of, range, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { ApiError, failingWith, watch } from '../../request/harness.ts';

const LAST_RANDOM = 1 - 2 ** -53;

/** The times of the calls when every attempt fails with this. */
async function callsOf(error: unknown, options = {}) {
  const clock = new ManualClock();
  const { calls, project } = failingWith(Array(50).fill(error), () => clock.now());
  const seen = watch(of('a').pipe(throttle(project, { clock, ...options })));
  await clock.runAllAsync();
  return { calls, seen };
}

describe('a request with a temporary failure', () => {
  it.each([
    ['408', new ApiError(408)],
    ['409', new ApiError(409)],
    ['500', new ApiError(500)],
    ['502', new ApiError(502)],
    ['504', new ApiError(504)],
  ])('is sent three times: %s', async (_name, error) => {
    const { calls, seen } = await callsOf(error);
    expect(calls.length).toBe(3);
    expect(seen.error).toBe(error);
  });

  it('waits at random up to 0.5 s, then up to 1 s', async () => {
    const halves = await callsOf(new ApiError(500), { random: () => 0.5 });
    expect(halves.calls).toEqual([0, 250, 750]);
    const wholes = await callsOf(new ApiError(500), { random: () => LAST_RANDOM });
    expect(wholes.calls.map(Math.round)).toEqual([0, 500, 1500]);
    expect((await callsOf(new ApiError(500), { random: () => 0 })).calls).toEqual([0, 1, 2]);
  });

  it('waits as long as the provider says, if it names a wait', async () => {
    const error = new ApiError(500, { 'retry-after': '3' });
    expect((await callsOf(error)).calls).toEqual([0, 3000, 6000]);
  });

  it('does not make other requests wait', async () => {
    const clock = new ManualClock();
    const calls: string[] = [];
    const project = async (value: string, { attempt }: { attempt: number }) => {
      calls.push(`${value}${attempt} at ${clock.now()}`);
      if (value === 'a' && attempt < 3) throw new ApiError(500);
    };
    const source = new Subject<string>();
    watch(source.pipe(throttle(project, { clock, random: () => 0.5 })));
    source.next('a');
    await clock.advanceAsync(1);
    source.next('b');
    await clock.runAllAsync();
    expect(calls).toEqual(['a1 at 0', 'b1 at 1', 'a2 at 250', 'a3 at 750']);
  });

  it('is not sent while a backoff lasts', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith([new ApiError(500)], () => clock.now());
    const sent = async (value: string) => {
      if (value === 'a') return project();
      throw new ApiError(429, { 'x-should-retry': 'false' });
    };
    const options = { clock, adaptive: false, outcomes: true, random: () => 0.5 } as const;
    watch(of('a', 'b').pipe(throttle(sent, options)));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 1000]);
  });

  it('leaves no timer behind when it is unsubscribed between two attempts', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith([new ApiError(500)], () => clock.now());
    const options = { clock, random: () => 0.5, deadlineMs: 9999 };
    const seen = watch(of('a').pipe(throttle(project, options)));
    await clock.advanceAsync(100);
    expect(clock.pendingTimers).toBe(2);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
    await clock.advanceAsync(1000);
    expect(calls).toEqual([0]);
  });
});

describe('an overloaded provider', () => {
  it('is retried without end, after doubling delays of up to 8 s', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith(Array(8).fill(new ApiError(503)), () => clock.now());
    const seen = watch(
      of('a').pipe(throttle(project, { clock, adaptive: false, random: () => LAST_RANDOM })),
    );
    await clock.runAllAsync();
    const waits = calls.slice(1).map((at, index) => Math.round(at - (calls[index] ?? 0)));
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000, 8000]);
    expect(seen.values).toEqual(['done']);
  });

  it('closes the gate if it names a wait', async () => {
    const error = new ApiError(529, { 'retry-after': '2' });
    const clock = new ManualClock();
    const { calls, project } = failingWith([error], () => clock.now());
    watch(of('a', 'b').pipe(throttle(project, { clock, concurrency: 2 })));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 0, 2000]);
  });
});

describe('a request that failed for good', () => {
  it.each([
    ['400', new ApiError(400)],
    ['401', new ApiError(401)],
    ['404', new ApiError(404)],
    ['quota', Object.assign(new ApiError(429), { code: 'insufficient_quota' })],
    ['a fault of the user', new TypeError('x is undefined')],
    ['a string', 'no'],
    ['null', null],
  ])('is sent once: %s', async (_name, error) => {
    const clock = new ManualClock();
    const calls: number[] = [];
    const project = async () => {
      calls.push(clock.now());
      throw error;
    };
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(calls).toEqual([0]);
    expect(seen.state).toBe('error');
    expect(seen.error).toBe(error);
  });
});

describe('the retry budget', () => {
  const down = (clock: ManualClock, requests: number) => {
    let calls = 0;
    const project = async () => {
      calls += 1;
      throw new ApiError(500);
    };
    const random = seededRandom(7);
    const options = { clock, outcomes: true, random, concurrency: requests } as const;
    const seen = watch(range(0, requests).pipe(throttle(project, options)));
    return { seen, calls: () => calls };
  };

  it('ends the retries of an outage after a hundred', async () => {
    const clock = new ManualClock();
    const { seen, calls } = down(clock, 1000);
    await clock.runAllAsync();
    expect(calls()).toBe(1100);
    expect(seen.values.length).toBe(1000);
  });

  it('is filled again by five successes a retry', async () => {
    const clock = new ManualClock();
    let calls = 0;
    const project = async (good: boolean) => {
      if (good) return;
      calls += 1;
      throw new ApiError(500);
    };
    const phases = new Subject<readonly boolean[]>();
    const options = { clock, outcomes: true } as const;
    watch(
      phases.pipe(
        concatMap((goods) => goods),
        throttle(project, options),
      ),
    );
    const spend = async (goods: readonly boolean[]) => {
      calls = 0;
      phases.next(goods);
      await clock.runAllAsync();
      return calls;
    };
    expect(await spend(Array(400).fill(false))).toBe(500);
    expect(await spend(Array(50).fill(true))).toBe(0);
    expect(await spend(Array(400).fill(false))).toBe(410);
    expect(await spend(Array(4000).fill(true))).toBe(0);
    expect(await spend(Array(400).fill(false))).toBe(500);
  });

  it('is not spent by rejections', async () => {
    const clock = new ManualClock();
    let calls = 0;
    const project = async (rejections: number, { attempt }: { attempt: number }) => {
      if (attempt <= rejections) throw new ApiError(attempt % 2 === 0 ? 503 : 429);
      if (rejections > 0) return;
      calls += 1;
      throw new ApiError(500);
    };
    const requests = [...Array(300).fill(2), ...Array(400).fill(0)];
    const options = { clock, adaptive: false, outcomes: true, concurrency: 1 } as const;
    watch(from(requests).pipe(throttle(project, options)));
    await clock.runAllAsync();
    expect(calls).toBe(500);
  });
});
