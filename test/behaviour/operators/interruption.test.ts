import { type Observable, type OperatorFunction, of, Subject, Subscription, tap } from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  type AttemptContext,
  backoffGate,
  byteBudget,
  concurrencyLimit,
  dispatch,
} from '../../../src/index.ts';
import { answer, Books, NOTHING, rig } from '../../support/marbles-rig.ts';

type Way = 'unsubscribe' | 'error' | 'complete' | 'throw';
type Rig = ReturnType<typeof rig>;
type Send = (value: number, context: AttemptContext) => Observable<string>;

/** Ways to send through all gates. */
const routes: Record<
  string,
  (stage: Rig, books: Books, send: Send) => OperatorFunction<number, string>
> = {
  'throttle of a limiter': ({ limiter }, _, send) => limiter.throttle(send),
  'throttle of a limiter, ordered': ({ limiter }, _, send) =>
    limiter.throttle(send, { ordered: true }),
  'gates as operators':
    ({ limiter: { feedback } }, instrumentation, send) =>
    (source) =>
      source.pipe(
        concurrencyLimit({ concurrency: 2, feedback, instrumentation }),
        byteBudget({ maxBytes: 4, feedback, instrumentation }),
        backoffGate({ feedback, instrumentation }),
        dispatch(send, { feedback, instrumentation, random: () => 0.5 }),
      ),
};

/** Plays one script; in its nth step, wherever that is, it is interrupted. */
function play(route: keyof typeof routes, nth: number, way: Way, watched: boolean) {
  const books = new Books();
  const stage = rig({ maxBytes: 4, ...(watched && { instrumentation: books }) });
  const { clock, limiter } = stage;
  const source = new Subject<number>();
  const subscription = new Subscription();
  const seen: string[] = [];
  let steps = 0;
  let thrown = false;

  const step = () => {
    steps += 1;
    if (steps - 1 !== nth) return;
    if (way === 'unsubscribe') subscription.unsubscribe();
    else if (way === 'error') source.error(new Error('interrupted'));
    else if (way === 'complete') source.complete();
    else thrown = true;
  };

  const plans: ((attempt: number) => Observable<string>)[] = [
    () => answer(clock, 5, 'a'),
    (attempt) => answer(clock, 3, 'b', attempt === 1 ? { status: 429 } : undefined),
    (attempt) => {
      if (attempt === 1) throw Object.assign(new Error('down'), { status: 500 });
      return of('c');
    },
    () => of('d', 'd'),
    (attempt) => answer(clock, 4, 'e', attempt === 1 ? { status: 503 } : undefined),
    () => answer(clock, 1, 'f'),
  ];
  const send: Send = (value, { attempt, signal }) => {
    step();
    signal.addEventListener('abort', step);
    const plan = plans[value % plans.length] as (attempt: number) => Observable<string>;
    return plan(attempt).pipe(tap({ next: step, complete: step, finalize: step }));
  };

  subscription.add(limiter.feedback.subscribe(step));
  const make = routes[route] as (typeof routes)[string];
  subscription.add(
    source
      .pipe(
        make(stage, books, send),
        tap(() => {
          step();
          if (thrown) throw new Error('downstream');
        }),
      )
      .subscribe({
        next: (value) => seen.push(value),
        error: () => seen.push('error'),
        complete: () => seen.push('complete'),
      }),
  );
  const run = () => {
    while (clock.nextTimerMs !== undefined) {
      clock.advanceTo(clock.nextTimerMs);
      step();
    }
  };
  for (const value of [0, 1, 2, 3]) {
    source.next(value);
    step();
  }
  clock.advance(4);
  step();
  for (const value of [4, 5, 6, 7, 8]) source.next(value);
  const interrupted = steps > nth;
  if (!interrupted || way === 'complete' || way === 'throw') run();
  return { stage, books, seen, steps, source };
}

describe.each(Object.keys(routes))('%s, interrupted at every step', (route) => {
  test.each<[Way, boolean]>([
    ['unsubscribe', false],
    ['unsubscribe', true],
    ['error', false],
    ['error', true],
    ['complete', false],
    ['complete', true],
    ['throw', false],
    ['throw', true],
  ])('by %s (watched: %s): nothing stays', (way, watched) => {
    const { steps } = play(route, Number.POSITIVE_INFINITY, way, watched);
    expect(steps).toBeGreaterThan(50);
    for (let nth = 0; nth < steps; nth += 1) {
      const { stage, books, seen, source } = play(route, nth, way, watched);
      // What is thrown after the last value throws nowhere.
      if (way === 'throw' && !seen.includes('error')) continue;
      if (way === 'error' || way === 'complete') expect(seen.at(-1)).toBe(way);
      expect({ nth, ...stage.held(), open: books.open, observed: source.observed }).toEqual({
        nth,
        ...NOTHING,
        open: 0,
        observed: false,
      });
      expectServed(stage);
    }
  });
});

test('a request leaves the queue of a shared limiter at once, while others hold the slots', () => {
  const { limiter, clock, held } = rig();
  const seen: string[] = [];
  const send = (value: string) =>
    of(value, value)
      .pipe(limiter.throttle((request) => answer(clock, 5, request)))
      .subscribe((result) => seen.push(result));
  send('holds');
  send('waits');
  const leaver = send('leaves');
  expect(held()).toMatchObject({ slots: 2, waiting: 4 });
  leaver.unsubscribe();
  expect(held()).toMatchObject({ slots: 2, waiting: 2 });
  clock.runAll();
  expect(seen).toEqual(['holds', 'holds', 'waits', 'waits']);
  expect(held()).toEqual(NOTHING);
});

/** Whatever was interrupted before, the next stream gets its turn. */
function expectServed({ clock, limiter }: Rig): void {
  const served: unknown[] = [];
  of(1, 2, 3)
    .pipe(limiter.throttle((value) => of(value)))
    .subscribe({ next: (value) => served.push(value), complete: () => served.push('done') });
  clock.runAll();
  expect(served).toEqual([1, 2, 3, 'done']);
}
