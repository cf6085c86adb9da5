import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { LimiterClosedError, type Outcome } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig, script, timeline } from '../../limiter/rig.ts';
import { ApiError, tooMany, watch } from '../../request/harness.ts';

describe('a closed limiter', () => {
  it('refuses new requests of every kind', async () => {
    const { limiter } = rig();
    limiter.close();
    let called = false;
    const task = () => {
      called = true;
    };
    await expect(limiter.run(task)).rejects.toBeInstanceOf(LimiterClosedError);
    await expect(limiter.run(task, { priority: 9 })).rejects.toMatchObject({
      code: 'LIMITER_CLOSED',
    });
    await expect(limiter.acquire()).rejects.toBeInstanceOf(LimiterClosedError);
    await expect(limiter.wrap(task)()).rejects.toBeInstanceOf(LimiterClosedError);
    await expect(limiter.fetch('http://127.0.0.1:1/')).rejects.toBeInstanceOf(LimiterClosedError);
    expect(() => limiter.tryAcquire()).toThrow(LimiterClosedError);
    expect(called).toBe(false);
    expect(limiter.snapshot()).toMatchObject({ state: 'closed', ended: { rejected: 6 } });
    expectIdle(limiter);
  });

  it('sends requests that waited before', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const { started, run, end } = script(limiter);
    run('a');
    const second = run('b');
    limiter.close();
    const late = run('c');
    end('a');
    await clock.advanceAsync(0);
    expect(limiter.snapshot().state).toBe('draining');
    end('b');
    await clock.advanceAsync(0);
    expect(started).toEqual(['a', 'b']);
    expect(second.value).toBe('b');
    expect(late.error).toBeInstanceOf(LimiterClosedError);
    expect(limiter.snapshot().state).toBe('closed');
  });

  it('retries requests that were sent before', async () => {
    const { clock, limiter } = rig();
    const answers = [tooMany(100), undefined];
    const ran = fate(
      limiter.run(() => {
        const error = answers.shift();
        if (error !== undefined) throw error;
        return clock.now();
      }),
    );
    await clock.advanceAsync(10);
    limiter.close();
    await clock.runAllAsync();
    expect(ran.value).toBe(100);
    expect(limiter.snapshot().state).toBe('closed');
  });

  it('errors a stream at its next value, or with outcomes fails each value', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const { started, task, end } = script(limiter);
    const [plain, told] = [new Subject<string>(), new Subject<string>()];
    const send = (name: string) => task(name)();
    const outcomes: Outcome<string, string>[] = [];
    const seen = watch(plain.pipe(limiter.throttle(send)));
    told.pipe(limiter.throttle(send, { outcomes: true })).subscribe((one) => outcomes.push(one));
    told.next('a');
    told.next('b');
    limiter.close();
    plain.next('c');
    told.next('d');
    expect(seen.error).toBeInstanceOf(LimiterClosedError);
    for (const name of ['a', 'b']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['a', 'b']);
    expect(outcomes.map(({ status, request }) => [status, request])).toEqual([
      ['failed', 'd'],
      ['ok', 'a'],
      ['ok', 'b'],
    ]);
    expect(limiter.snapshot().state).toBe('closed');
    expectIdle(limiter);
  });

  it('may be closed again, and emits `closed` once', async () => {
    const { limiter } = rig();
    const events = listen(limiter);
    const lease = await limiter.acquire();
    limiter.close();
    limiter.close();
    lease.release();
    limiter.close();
    expect(timeline(events)).toEqual(['0 closed', '0 draining', '0 drained']);
    expect(events.every(({ level }) => level === 'info')).toBe(true);
  });

  it.each([
    [
      'failures',
      (limiter) => {
        for (let n = 0; n < 20; n += 1) limiter.recordFailure(new ApiError(500));
      },
    ],
    ['a 429', (limiter) => limiter.feedback.next({ kind: 'throttled', retryAfterMs: 10 })],
    ['successes', (limiter) => limiter.recordSuccess({ tokens: 3 })],
    ['a change', (limiter) => limiter.configure({ concurrency: 9, total: 4 })],
    ['a look', (limiter) => limiter.snapshot()],
  ] as [string, (limiter: ReturnType<typeof rig>['limiter']) => void][])(
    'stays closed, and sets no timer, after a late %s',
    async (_name, late) => {
      const { clock, limiter } = rig({
        tokensPerMinute: 100,
        circuitBreaker: { consecutiveFailures: 2, openMs: 50 },
        adaptive: { strategy: 'failures', failureThreshold: 3 },
      });
      const states: string[] = [];
      limiter.state$.subscribe((state) => states.push(state));
      limiter.close();
      late(limiter);
      expect(clock.pendingTimers).toBe(0);
      await clock.advanceAsync(600_000);
      late(limiter);
      expect(limiter.snapshot().state).toBe('closed');
      expect(states).toEqual(['running', 'closed']);
      await expect(limiter.acquire()).rejects.toBeInstanceOf(LimiterClosedError);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it.each(['ok', 'failed'] as const)(
    'stays closed when a lease comes back late: %s',
    async (end) => {
      const { clock, limiter } = rig({
        circuitBreaker: { consecutiveFailures: 1, openMs: 50 },
        adaptive: { strategy: 'failures', failureThreshold: 1 },
      });
      const states: string[] = [];
      limiter.state$.subscribe((state) => states.push(state));
      const leases = [await limiter.acquire(), await limiter.acquire()];
      limiter.close();
      for (const lease of leases) lease.release(end, new ApiError(500));
      expect(limiter.snapshot().state).toBe('closed');
      expect(states).toEqual(['running', 'draining', 'closed']);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it.each([
    ['a 503', () => new ApiError(503)],
    ['a 429', () => tooMany(2_000)],
    ['a refused connection', () => Object.assign(new Error('down'), { code: 'ECONNREFUSED' })],
  ])(
    "rejects a request that would be sent again after %s, with `waiting: 'reject'`",
    async (_, error) => {
      const { clock, limiter } = rig();
      const refused = fate(
        limiter.run(async () => {
          await new Promise<void>((resolve) => clock.setTimer(resolve, 1_000));
          throw error();
        }),
      );
      await clock.advanceAsync(500);
      limiter.close({ waiting: 'reject' });
      await clock.advanceAsync(10_000);
      expect(refused.error).toBeInstanceOf(LimiterClosedError);
      expect(limiter.snapshot().state).toBe('closed');
      expectIdle(limiter);
    },
  );
});
