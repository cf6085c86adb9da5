import { from, NEVER, of, range, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type ThrottleOptions, throttle } from '../../../src/index.ts';
import type { PolicyEvent } from '../../../src/model/policy-events.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, failingWith, tooMany, watch } from '../../request/harness.ts';

const code = (error: unknown) => (error as { code?: string }).code;

/** When each of the requests is sent, by its number, and what came of them. */
function sent(count: number, options: ThrottleOptions<number>) {
  const clock = new ManualClock();
  const times: number[] = [];
  const send = (value: number) => {
    times[value] = clock.now();
    return [value];
  };
  const seen = watch(range(0, count).pipe(throttle(send, { clock, outcomes: true, ...options })));
  const ended = () =>
    seen.values.map((each) => {
      const { status } = each as { status: string };
      return status === 'ok' ? 'ok' : code((each as { error?: unknown }).error);
    });
  return { clock, times, seen, ended };
}

describe('the limits of throttle', () => {
  it('are any number, by name, with what each request costs', () => {
    const { clock, times } = sent(5, {
      limits: { images: { limit: 2, windowMs: 100 }, tokens: { limit: 10, windowMs: 30 } },
      costs: (value) => ({ images: value % 2, tokens: 4 }),
    });
    clock.runAll();
    expect(times).toEqual([0, 0, 30, 30, 60]);
  });

  it('refuse a request that can never fit, and no other', () => {
    const { ended } = sent(4, {
      requestsPerMinute: 10,
      costs: (value): Record<string, number> =>
        value === 1 ? { pages: 1 } : value === 2 ? { requests: 11 } : {},
    });
    expect(ended()).toEqual(['ok', 'UNKNOWN_LIMIT', 'COST_ABOVE_LIMIT', 'ok']);
  });

  it("fail requests that do not fit with `onLimit: 'fail'`, or the stream", () => {
    const options = { requestsPerMinute: 2, onLimit: 'fail' } as const;
    const { ended, clock } = sent(4, options);
    expect(ended()).toEqual(['ok', 'ok', 'RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED']);
    expect(clock.pendingTimers).toBe(0);
    const failing = watch(range(0, 4).pipe(throttle((value) => [value], { clock, ...options })));
    expect(failing).toMatchObject({ values: [0, 1], state: 'error' });
    expect(failing.error).toMatchObject({ limit: 'requests', retryAfterMs: 60_000 });
  });

  it('charge a retry again, and settle tokens to what was recorded', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith([tooMany(100)], () => clock.now());
    const limits = { requests: { limit: 1, windowMs: 5_000 } };
    watch(of('a').pipe(throttle(project, { clock, limits })));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 5_000]);

    const times: number[] = [];
    const record = (value: string, context: { recordTokens(tokens: number): void }) => {
      times.push(clock.now());
      context.recordTokens(5);
      return [value];
    };
    const start = clock.now();
    const options = { clock, tokensPerMinute: 100, estimate: () => ({ bytes: 0, tokens: 90 }) };
    watch(from(['a', 'b', 'c', 'd']).pipe(throttle(record, options)));
    await clock.runAllAsync();
    // Each is charged 90, then 5: after three of them 90 fit no more.
    expect(times.map((at) => at - start)).toEqual([0, 0, 0, 60_000]);
  });

  it('go together with a pace', () => {
    const { clock, times } = sent(4, {
      pace: { intervalMs: 20, jitter: 0 },
      limits: { requests: { limit: 2, windowMs: 100 } },
    });
    clock.runAll();
    expect(times).toEqual([0, 20, 100, 120]);
  });
});

describe('a circuit breaker in throttle', () => {
  it('stops sending, and goes on after a probe', async () => {
    const clock = new ManualClock();
    const facts: PolicyEvent[] = [];
    const instrumentation = { changed: (fact: PolicyEvent) => facts.push(fact) };
    const { calls, project } = failingWith([new ApiError(403)], () => clock.now());
    const circuitBreaker = { openMs: 500 };
    const options = {
      clock,
      circuitBreaker,
      instrumentation,
      outcomes: true,
      concurrency: 1,
    } as const;
    const seen = watch(of('a', 'b', 'c').pipe(throttle(project, options)));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 500, 500]);
    expect(seen.values.map(({ status }) => status)).toEqual(['failed', 'ok', 'ok']);
    expect(facts.map(({ kind, at }) => [kind, at])).toEqual([
      ['circuitOpened', 0],
      ['circuitHalfOpen', 500],
      ['circuitClosed', 500],
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("fails what comes meanwhile with `onOpen: 'fail'`", async () => {
    const clock = new ManualClock();
    const { project } = failingWith([new ApiError(401)], () => clock.now());
    const circuitBreaker = { onOpen: 'fail' } as const;
    const options = { clock, circuitBreaker, outcomes: true, concurrency: 1 } as const;
    const seen = watch(of('a', 'b').pipe(throttle(project, options)));
    await clock.advanceAsync(0);
    expect(seen.values[1]).toMatchObject({ error: { code: 'CIRCUIT_OPEN' } });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('queues in throttle', () => {
  it('let higher priorities go first', () => {
    const { clock, times } = sent(4, {
      limits: { requests: { limit: 1, windowMs: 10 } },
      priority: (value) => value,
    });
    clock.runAll();
    expect(times).toEqual([0, 30, 20, 10]);
  });

  it('refuse too many requests, and those that wait too long, and leave no timer', () => {
    const limits = { requests: { limit: 1, windowMs: 1_000 } };
    const full = sent(4, { limits, maxQueue: 2 });
    expect(full.ended()).toEqual(['ok', 'QUEUE_FULL']);
    full.clock.runAll();
    expect(full.ended()).toEqual(['ok', 'QUEUE_FULL', 'ok', 'ok']);
    const late = sent(4, { limits, waitTimeoutMs: 1_500 });
    late.clock.runAll();
    expect(late.ended()).toEqual(['ok', 'ok', 'WAIT_TIMEOUT', 'WAIT_TIMEOUT']);
    expect(late.clock.now()).toBe(1_500);
    expect(late.seen.state).toBe('complete');
    expect(late.seen.values[2]).toMatchObject({
      error: { gate: 'rateLimit' },
      stats: { attempts: 0, durationMs: 1_500 },
    });
  });

  it('leave no timer when unsubscribed, whatever is on', () => {
    const clock = new ManualClock();
    const source = new Subject<number>();
    const options = {
      clock,
      requestsPerMinute: 1,
      pace: {},
      circuitBreaker: true,
      adaptive: { strategy: 'failures', initialLimit: 2 },
      maxQueue: 10,
      waitTimeoutMs: 1e6,
      priority: () => 1,
      concurrency: 4,
    } as const;
    const seen = watch(source.pipe(throttle(() => NEVER, options)));
    for (let n = 0; n < 5; n += 1) source.next(n);
    expect(clock.pendingTimers).toBe(4);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });
});
