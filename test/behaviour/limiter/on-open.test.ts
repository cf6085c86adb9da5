import { from, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, throttle } from '../../../src/index.ts';
import type { Instrumentation } from '../../../src/model/instrumentation.ts';
import type { OnOpen } from '../../../src/policies/circuit-types.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { fate } from '../../limiter/harness.ts';
import { rig, script } from '../../limiter/rig.ts';
import { ApiError, watch } from '../../request/harness.ts';

const broken = new ApiError(500);

const codesOf = (fates: readonly { readonly error: unknown }[]) =>
  fates.map(({ error }) => (error as { readonly code?: string } | undefined)?.code);

describe('a stream behind an open circuit', () => {
  it('waits by default: a server that is down for a minute fails few of 1,000 outcomes', async () => {
    const clock = new ManualClock();
    let calls = 0;
    const project = async (n: number) => {
      calls += 1;
      if (clock.now() < 60_000) throw broken;
      return n;
    };
    const options = { clock, outcomes: true, concurrency: 10, maxAttempts: 1 } as const;
    const seen = watch(
      range(0, 1_000).pipe(throttle(project, { ...options, circuitBreaker: true })),
    );
    await clock.advanceAsync(1_000);
    expect(seen.values).toHaveLength(19);
    await clock.runAllAsync();
    const failed = seen.values.filter(({ status }) => status === 'failed');
    // Ten to open it, nine that were in flight then, and the probe at 30 s; that at 90 s closes it.
    expect([failed.length, seen.values.length, calls]).toEqual([20, 1_000, 1_000]);
    expect(seen.state).toBe('complete');
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails by default after a wrong key: 1,000 outcomes end at once', async () => {
    const clock = new ManualClock();
    const options = { clock, outcomes: true, concurrency: 10 } as const;
    let calls = 0;
    const project = async () => {
      calls += 1;
      throw new ApiError(401);
    };
    const seen = watch(
      range(0, 1_000).pipe(throttle(project, { ...options, circuitBreaker: true })),
    );
    await clock.advanceAsync(0);
    expect([seen.values.length, seen.state]).toEqual([1_000, 'complete']);
    expect(calls).toBeLessThanOrEqual(20);
    expect(seen.values[500]).toMatchObject({ error: { reason: 'authorisation' } });
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits after a 403, which may concern one request, and after a key that has worked', async () => {
    const clock = new ManualClock();
    const answers = [401, 0, 403];
    let calls = 0;
    const project = async (n: number) => {
      calls += 1;
      const status = answers[n];
      if (status !== undefined && status > 0) throw new ApiError(status);
      return n;
    };
    const limiter = createLimiter({ clock, circuitBreaker: true, concurrency: 1 });
    const send = (...numbers: number[]) =>
      watch(from(numbers).pipe(limiter.throttle(project, { outcomes: true })));
    const first = send(0, 3);
    await clock.advanceAsync(0);
    expect(first.values).toHaveLength(2);
    await clock.advanceAsync(30_000);
    send(1);
    await clock.advanceAsync(0);
    const later = send(2, 3);
    await clock.advanceAsync(0);
    expect([later.values.length, calls]).toEqual([1, 3]);
    await clock.advanceAsync(30_000);
    expect(later.values.map(({ status }) => status)).toEqual(['failed', 'ok']);
  });

  it('waits after a wrong key while the circuit is isolated for another reason', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, circuitBreaker: true, concurrency: 1 });
    const project = (n: number) =>
      n === 0 ? Promise.reject(new ApiError(401)) : Promise.resolve(n);
    const send = (n: number) =>
      watch(from([n]).pipe(limiter.throttle(project, { outcomes: true })));
    send(0);
    await clock.advanceAsync(0);
    const isolation = limiter.circuit?.isolate('maintenance');
    const later = send(1);
    await clock.advanceAsync(0);
    expect(later.values).toEqual([]);
    isolation?.end();
    later.subscription.unsubscribe();
  });

  it('fails after a wrong key, including requests that wait for slots', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, circuitBreaker: true, concurrency: 1 });
    const project = () => new Promise<number>(() => {});
    const seen = watch(range(0, 3).pipe(limiter.throttle(project, { outcomes: true })));
    await clock.advanceAsync(0);
    limiter.recordFailure(new ApiError(401));
    await clock.advanceAsync(0);
    expect(seen.values.map(({ request }) => request)).toEqual([1, 2]);
    seen.subscription.unsubscribe();
  });

  it("fails with `onOpen: 'fail'`, including requests that wait for slots", async () => {
    const clock = new ManualClock();
    let calls = 0;
    const project = (n: number) => {
      calls += 1;
      return n === 0 ? Promise.reject(new ApiError(401)) : new Promise<number>(() => {});
    };
    const circuitBreaker = { onOpen: 'fail' as const };
    const options = { clock, outcomes: true, concurrency: 2, circuitBreaker } as const;
    const seen = watch(range(0, 5).pipe(throttle(project, options)));
    await clock.advanceAsync(0);
    expect(calls).toBe(2);
    expect(seen.values.map(({ request }) => request)).toEqual([0, 2, 3, 4]);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('calls behind an open circuit', () => {
  /** With a failed call, and a stream and calls that wait for its slot. */
  async function opened(onOpen?: OnOpen, instrumentation?: Instrumentation) {
    const { clock, limiter } = rig({
      instrumentation,
      concurrency: 1,
      maxAttempts: 1,
      circuitBreaker: { consecutiveFailures: 1, openMs: 500, ...(onOpen && { onOpen }) },
    });
    const calls = script(limiter);
    const first = calls.run('first');
    const stream = watch(
      range(0, 2).pipe(limiter.throttle(async (n: number) => n, { outcomes: true })),
    );
    const waits = [calls.run('a'), calls.run('b', { priority: 1 })];
    const lease = fate(limiter.acquire());
    const response = fate(limiter.fetch('data:,hello'));
    calls.fail('first', broken);
    await clock.advanceAsync(0);
    const late = calls.run('late');
    await clock.advanceAsync(0);
    return { clock, limiter, first, stream, waits: [...waits, lease, response, late], calls };
  }

  it.each([
    ['without tickets', undefined],
    ['with tickets', { queued: () => {} }],
  ])('fail at once by default, even behind a waiting stream: %s', async (_, watching) => {
    const { clock, limiter, first, stream, waits } = await opened(undefined, watching);
    expect(first.error).toBe(broken);
    expect(codesOf(waits)).toEqual(Array(5).fill('CIRCUIT_OPEN'));
    expect(limiter.snapshot()).toMatchObject({ waiting: 2, binding: 'circuitBreaker' });
    await clock.runAllAsync();
    expect(stream).toMatchObject({ state: 'complete', values: [{ value: 0 }, { value: 1 }] });
    expect(limiter.snapshot()).toMatchObject({
      waiting: 0,
      ended: { ok: 2, failed: 1, rejected: 5 },
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it("wait with `onOpen: 'wait'`", async () => {
    const { clock, waits, stream, calls } = await opened('wait');
    expect(waits.map(({ state }) => state)).toEqual(Array(5).fill('open'));
    await clock.advanceAsync(500);
    expect(calls.started).toEqual(['first', 'b']);
    expect(stream.values).toEqual([]);
  });

  it("fail with `onOpen: 'fail'`, and the stream with them", async () => {
    const { waits, stream } = await opened('fail');
    expect(codesOf(waits)).toEqual(Array(5).fill('CIRCUIT_OPEN'));
    expect(stream.values.map(({ status }) => status)).toEqual(['failed', 'failed']);
  });

  it('that wait for a retry fail, and requests of a stream wait', async () => {
    const { clock, limiter } = rig({ circuitBreaker: { consecutiveFailures: 2, openMs: 5_000 } });
    const call = fate(limiter.run(() => Promise.reject(broken)));
    let sent = 0;
    const flaky = async (n: number) => {
      sent += 1;
      if (sent === 1) throw broken;
      return n;
    };
    const stream = watch(range(7, 1).pipe(limiter.throttle(flaky)));
    await clock.advanceAsync(1_000);
    expect(call.error).toMatchObject({ code: 'CIRCUIT_OPEN' });
    expect(stream.values).toEqual([]);
    await clock.runAllAsync();
    expect(stream.values).toEqual([7]);
  });

  it('fail while the circuit is isolated, and a stream waits for its end', async () => {
    const limiter = createLimiter({ circuitBreaker: true, clock: new ManualClock() });
    const isolation = limiter.circuit?.isolate('maintenance');
    const stream = watch(range(7, 1).pipe(limiter.throttle(async (n: number) => n)));
    await expect(limiter.run(() => 1)).rejects.toMatchObject({ reason: 'maintenance' });
    await expect(limiter.map([1], () => 1, { signal: AbortSignal.abort(1) })).rejects.toBe(1);
    expect(limiter.snapshot().waiting).toBe(1);
    isolation?.end();
    await limiter.drain();
    expect(stream.values).toEqual([7]);
  });
});
