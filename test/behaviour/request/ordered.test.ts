import fc from 'fast-check';
import { from, Observable, of, range, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, tooMany, watch } from '../../request/harness.ts';
import { runs } from '../../support/runs.ts';

/** Emits values at given times after it was subscribed, then fails or completes at the last. */
function script(
  clock: ManualClock,
  steps: readonly (readonly [number, string])[],
  error?: unknown,
) {
  return new Observable<string>((out) => {
    const [lastMs] = steps.at(-1) ?? [0];
    const timers = steps.map(([atMs, value]) => clock.setTimer(() => out.next(value), atMs));
    const end = () => (error === undefined ? out.complete() : out.error(error));
    timers.push(clock.setTimer(end, lastMs));
    return () => {
      for (const each of timers) each.cancel();
    };
  });
}

describe('ordered', () => {
  it('holds fast results back for slow ones, also during retries', async () => {
    const clock = new ManualClock();
    const project = (value: number, { attempt }: { attempt: number }) => {
      if (value === 0 && attempt < 3) throw tooMany();
      if (value === 2 && attempt < 3) throw new ApiError(500);
      return of(value);
    };
    const seen = watch(range(0, 5).pipe(throttle(project, { clock, ordered: true })));
    expect(seen.values).toEqual([]);
    await clock.runAllAsync();
    expect(seen.values).toEqual([0, 1, 2, 3, 4]);
    expect(seen.state).toBe('complete');
  });

  it('keeps the values of each Observable together, and emits those of the first at once', async () => {
    const clock = new ManualClock();
    const inners = [
      script(clock, [
        [10, 'a1'],
        [30, 'a2'],
      ]),
      script(clock, [
        [5, 'b1'],
        [50, 'b2'],
      ]),
      script(clock, [
        [1, 'c1'],
        [2, 'c2'],
      ]),
    ];
    const seen = watch(from(inners).pipe(throttle((inner) => inner, { clock, ordered: true })));
    await clock.advanceAsync(10);
    expect(seen.values).toEqual(['a1']);
    await clock.advanceAsync(20);
    expect(seen.values).toEqual(['a1', 'a2', 'b1']);
    await clock.advanceAsync(20);
    expect(seen.values).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2']);
    expect(seen.state).toBe('complete');
  });

  it('with outcomes emits failed ones in their place', async () => {
    const clock = new ManualClock();
    const project = async (value: number, { attempt }: { attempt: number }) => {
      if (value === 0 && attempt === 1) throw tooMany();
      if (value === 1) throw new ApiError(400);
      return value;
    };
    const options = { clock, ordered: true, outcomes: true } as const;
    const seen = watch(range(0, 3).pipe(throttle(project, options)));
    await clock.runAllAsync();
    expect(seen.values.map(({ request, status }) => [request, status])).toEqual([
      [0, 'ok'],
      [1, 'failed'],
      [2, 'ok'],
    ]);
  });

  it('errors at the first failure, even if earlier requests are unfinished', async () => {
    const clock = new ManualClock();
    const project = (value: number) =>
      value === 1 ? Promise.reject(new ApiError(400)) : new Promise<number>(() => undefined);
    const seen = watch(range(0, 3).pipe(throttle(project, { clock, ordered: true })));
    await clock.advanceAsync(0);
    expect(seen.state).toBe('error');
  });

  it('completes when a subscriber ends the last request from within', () => {
    const clock = new ManualClock();
    const inner = new Subject<string>();
    const heard: string[] = [];
    let completed = false;
    throttle(() => inner, { clock, ordered: true })(of('a')).subscribe({
      next: (value) => {
        heard.push(value);
        inner.complete();
      },
      complete: () => {
        completed = true;
      },
    });
    inner.next('value');
    expect(heard).toEqual(['value']);
    expect(completed).toBe(true);
  });

  it('keeps the order when a subscriber comes back with more from within', () => {
    const clock = new ManualClock();
    const source = new Subject<number>();
    const heard: number[] = [];
    const project = (value: number) => of(value, value + 0.5);
    throttle(project, { clock, ordered: true })(source).subscribe((value) => {
      heard.push(value);
      if (value === 0) source.next(1);
      if (value === 1) source.next(2);
    });
    source.next(0);
    source.next(3);
    expect(heard).toEqual([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]);
  });

  it('is the order of the source, for generated events', async () => {
    const request = fc.record({
      gaps: fc.array(fc.nat(20), { maxLength: 4 }),
      failures: fc.array(fc.constantFrom(429, 500, 503), { maxLength: 2 }),
    });
    const run = async (
      requests: readonly { gaps: number[]; failures: number[] }[],
      concurrency: number,
    ) => {
      const clock = new ManualClock();
      const project = (
        each: (typeof requests)[number],
        told: { attempt: number; index: number },
      ) => {
        const status = each.failures[told.attempt - 1];
        if (status !== undefined) throw new ApiError(status);
        let atMs = 0;
        return script(
          clock,
          each.gaps.map((gap, place) => {
            atMs += gap;
            return [atMs, `${told.index}.${place}`] as const;
          }),
        );
      };
      const options = { clock, ordered: true, concurrency } as const;
      const seen = watch(from(requests).pipe(throttle(project, options)));
      await clock.runAllAsync();
      expect(seen.state).toBe('complete');
      expect(seen.values).toEqual(
        requests.flatMap(({ gaps }, index) => gaps.map((_, place) => `${index}.${place}`)),
      );
    };
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), run),
      { numRuns: runs(100) },
    );
  });
});
