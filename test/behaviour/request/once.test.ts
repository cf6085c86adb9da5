import { Observable, of, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Instrumentation } from '../../../src/advanced.ts';
import { createLimiter, dispatch, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';
import { ApiError, tooMany, watch } from '../../request/harness.ts';

const torn = (after: (subscriber: { error(error: unknown): void }) => void = () => {}) =>
  new Observable<never>((subscriber) => {
    after(subscriber);
    return () => {
      throw new Error('torn');
    };
  });

describe('a teardown that throws', () => {
  const thrown: unknown[] = [];
  const note = (error: unknown) => thrown.push(error);
  let others: NodeJS.UncaughtExceptionListener[] = [];
  beforeEach(() => {
    others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', note);
    thrown.length = 0;
  });
  afterEach(() => {
    process.off('uncaughtException', note);
    for (const listener of others) process.on('uncaughtException', listener);
  });

  it('in one stream neither stops the queue nor keeps a lease of another', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ concurrency: 10, maxBytes: 10, clock });
    const results = { estimate: () => 8 };
    const source = new Subject<number>();
    const blocking = new Subject<number>();
    const project = (n: number) => {
      if (n === 0) return torn();
      throw new Error('project');
    };
    watch(source.pipe(limiter.throttle(project, results)));
    source.next(0);
    const other = watch(of('x').pipe(limiter.throttle(() => blocking, results)));
    source.next(1);
    expect(limiter.snapshot().byteBudget.waiting).toBe(1);
    blocking.complete();
    // It is thrown in a timer, as RxJS does; this one comes after that.
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(other.state).toBe('complete');
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
    expect(limiter.snapshot().byteBudget.used).toBe(0);
    expect(thrown.length).toBeGreaterThan(0);
  });

  it('after a rejection does not send a request that has failed for good', () => {
    const clock = new ManualClock();
    const facts: string[] = [];
    const instrumentation: Instrumentation = {
      attemptStarted: () => facts.push('attempt'),
      settled: (_ticket, outcome) => facts.push(outcome),
    };
    const project = () => torn((subscriber) => subscriber.error(tooMany(10)));
    watch(of(1).pipe(throttle(project, { clock, instrumentation, outcomes: true })));
    clock.advance(60_000);
    expect(facts).toEqual(['attempt', 'failed']);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the three attempts', () => {
  it.each([429, 503, 529])('do not count an answer of %i', async (status) => {
    const clock = new ManualClock();
    let calls = 0;
    const project = async () => {
      calls += 1;
      if (calls <= 5) throw new ApiError(status);
      if (calls <= 7) throw new ApiError(500);
      return 'done';
    };
    const seen = watch(of('a').pipe(throttle(project, { clock })));
    await clock.runAllAsync();
    expect(seen.values).toEqual(['done']);
    expect(calls).toBe(8);
  });
});

describe('an instrumentation that aborts the reported request', () => {
  it('leaves no timer and no request in the queue', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const instrumentation: Instrumentation = { queued: () => controller.abort() };
    const limiter = createLimiter({ clock, instrumentation });
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 50_000 });
    await expect(limiter.acquire({ signal: controller.signal })).rejects.toThrow();
    expect(clock.pendingTimers).toBe(0);
    expect(limiter.snapshot().backoff.waiting).toBe(0);
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });
});

describe('an instrumentation that unsubscribes the reported stream', () => {
  it.each(['arrived', 'attemptStarted'] as const)('in %s: nothing is sent', (fact) => {
    const clock = new ManualClock();
    const sent: number[] = [];
    const outcomes: string[] = [];
    const source = new Subject<number>();
    const instrumentation: Instrumentation = {
      [fact]: () => seen.subscription.unsubscribe(),
      settled: (_ticket: unknown, outcome: string) => outcomes.push(outcome),
    };
    const project = (n: number) => {
      sent.push(n);
      return of(n);
    };
    const seen = watch(source.pipe(dispatch(project, { clock, instrumentation })));
    source.next(1);
    expect(sent).toEqual([]);
    expect(outcomes).toEqual(['cancelled']);
    expect(clock.pendingTimers).toBe(0);
  });
});
