import { concat, defer, EMPTY, finalize, NEVER, of, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, tooMany, watch } from '../../request/harness.ts';

describe('an Observable', () => {
  it('that fails before its first value is subscribed again', async () => {
    const clock = new ManualClock();
    let subscriptions = 0;
    const project = () =>
      defer(() => {
        subscriptions += 1;
        return subscriptions < 3 ? throwError(() => tooMany()) : of(1, 2);
      });
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(subscriptions).toBe(3);
    expect(seen.values).toEqual([1, 2]);
    expect(seen.state).toBe('complete');
  });

  it('that fails after its first value is not, but its 429 holds the others back', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    const error = tooMany(300);
    let subscriptions = 0;
    const project = () =>
      defer(() => {
        subscriptions += 1;
        return concat(
          of('part'),
          throwError(() => error),
        );
      });
    const seen = watch(of('a').pipe(limiter.throttle(project)));
    await clock.runAllAsync();
    expect(subscriptions).toBe(1);
    expect(seen.values).toEqual(['part']);
    expect(seen.error).toBe(error);
    expect(limiter.feedback.backoffUntil).toBe(300);
  });

  it('without a value is a success', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    limiter.feedback.next({ kind: 'throttled' });
    const seen = watch(of('a').pipe(limiter.throttle(() => EMPTY)));
    await clock.runAllAsync();
    expect(seen.state).toBe('complete');
    expect(limiter.snapshot().backoff.state).toBe('open');
  });

  it.each([
    ['a new', undefined],
    ['a late', 0],
  ])(
    'ends the probing of a backoff with its first value, and holds up no probe after %s 429',
    async (_, epoch) => {
      const clock = new ManualClock();
      const limiter = createLimiter({ clock, adaptive: false });
      const long = new Subject<string>();
      limiter.feedback.next({ kind: 'throttled' });
      const seen = watch(of('a').pipe(limiter.throttle(() => long)));
      await clock.advanceAsync(1000);
      expect(limiter.snapshot().backoff.state).toBe('probing');
      long.next('first');
      expect(limiter.snapshot().backoff.state).toBe('open');
      // It goes on for minutes; meanwhile there is another 429, and another probe.
      limiter.feedback.next({ kind: 'throttled', ...(epoch !== undefined && { epoch }) });
      const later = watch(of('b', 'c').pipe(limiter.throttle((value) => of(value))));
      await clock.advanceAsync(1000);
      expect(later.values).toEqual(['b', 'c']);
      expect(seen.state).toBe('open');
      long.complete();
      expect(limiter.snapshot().concurrency.inFlight).toBe(0);
    },
  );

  it('is unsubscribed once, before the next attempt or request begins', async () => {
    const clock = new ManualClock();
    const log: string[] = [];
    const project = (value: string, { attempt }: { attempt: number }) =>
      defer(() => {
        log.push(`${value}${attempt} begins`);
        if (attempt === 1) return throwError(() => new ApiError(500));
        return new Promise<string>((resolve) => {
          clock.setTimer(() => resolve(value), 1);
        });
      }).pipe(finalize(() => log.push(`${value}${attempt} ends`)));
    const options = { clock, concurrency: 1, random: () => 0 };
    watch(of('a', 'b').pipe(throttle(project, options)));
    await clock.runAllAsync();
    const names = ['a1', 'a2', 'b1', 'b2'];
    expect(log).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
  });
});

describe('a teardown that throws', () => {
  const spoilt = finalize<string>(() => {
    throw new Error('torn');
  });

  it('keeps no lease of any request when the stream is unsubscribed', () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const seen = watch(
      of('a', 'b', 'c').pipe(limiter.throttle(() => (NEVER as typeof EMPTY).pipe(spoilt))),
    );
    expect(limiter.snapshot().concurrency.inFlight).toBe(3);
    expect(() => seen.subscription.unsubscribe()).toThrow(/torn/);
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });

  it.each([
    ['completes', (inner: Subject<string>) => inner.complete()],
    ['fails', (inner: Subject<string>) => inner.error(new ApiError(400))],
    ['is retried', (inner: Subject<string>) => inner.error(new ApiError(500))],
  ])('keeps no lease when the request %s', async (_name, end) => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const inner = new Subject<string>();
    const project = (_: string, { attempt }: { attempt: number }) =>
      attempt === 1 ? inner.pipe(spoilt) : of('again');
    const seen = watch(of('a').pipe(limiter.throttle(project, { outcomes: true })));
    try {
      end(inner);
    } catch (error) {
      expect(String(error)).toMatch(/torn/);
    }
    await clock.runAllAsync();
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
    expect(seen.values.length).toBe(1);
  });
});
