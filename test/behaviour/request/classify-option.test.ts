import { of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, type Verdict } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, failingWith, watch } from '../../request/harness.ts';

/** Three errors, then success; `classify` decides. */
async function classified(classify: (error: unknown) => Verdict | undefined, status = 418) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, adaptive: false, classify, random: () => 0.5 });
  const { calls, project } = failingWith(Array(3).fill(new ApiError(status)), () => clock.now());
  const seen = watch(of('a').pipe(limiter.throttle(project)));
  await clock.runAllAsync();
  expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  expect(clock.pendingTimers).toBe(0);
  return { calls, seen };
}

describe('classify', () => {
  it('decides the meaning of an error', async () => {
    const throttled = await classified(() => ({ kind: 'throttled', retryAfterMs: 40 }));
    expect(throttled.calls).toEqual([0, 40, 80, 120]);
    const failed = await classified(() => ({ kind: 'failed', retry: true }));
    expect(failed.calls).toEqual([0, 250, 750]);
    const final = await classified(() => ({ kind: 'throttled', retry: false }), 429);
    expect(final.calls).toEqual([0]);
  });

  it('uses the default for errors for which it returns undefined', async () => {
    expect((await classified(() => undefined, 429)).calls).toEqual([0, 1000, 2000, 3000]);
    expect((await classified(() => undefined)).calls).toEqual([0]);
  });

  it.each([Number.NaN, -5, 0, Number.POSITIVE_INFINITY, '7' as unknown as number])(
    'is ignored when it names a wait of %s ms',
    async (retryAfterMs) => {
      const failed = await classified(() => ({ kind: 'failed', retry: true, retryAfterMs }));
      expect(failed.calls).toEqual([0, 250, 750]);
      const overloaded = await classified(() => ({ kind: 'overloaded', retryAfterMs }));
      expect(overloaded.calls).toEqual([0, 250, 750, 1750]);
    },
  );

  it('that returns a misspelt field fails the request, and names the one that was meant', async () => {
    const verdict = { kind: 'throttled', retryAfter: 5 } as const;
    const { calls, seen } = await classified(() => verdict);
    expect(calls).toEqual([0]);
    expect(seen.error).toEqual(
      new TypeError(
        '`retryAfter` is no field of classify(); did you mean `retryAfterMs`? It takes kind, retry, retryAfterMs, limit, limits, outage, headers, status, connection, timedOut',
      ),
    );
  });

  it('that throws fails the request with its error, and leaks nothing', async () => {
    const fault = new Error('of the classifier');
    const { calls, seen } = await classified(() => {
      throw fault;
    });
    expect(calls).toEqual([0]);
    expect(seen.error).toBe(fault);
  });

  it('that throws at a Response unsubscribes from the Observable that emitted it', async () => {
    const clock = new ManualClock();
    const classify = () => {
      throw new Error('of the classifier');
    };
    const limiter = createLimiter({ clock, classify });
    const inner = new Subject<Response>();
    const seen = watch(of('a').pipe(limiter.throttle(() => inner)));
    inner.next(new Response(null, { status: 429 }));
    expect(seen.state).toBe('error');
    expect(inner.observed).toBe(false);
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
  });
});
