import { config, Subject } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LimiterOptions } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { rig, script } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

const everything: LimiterOptions = {
  concurrency: 2,
  limits: { units: { limit: 5, windowMs: 100 } },
  circuitBreaker: { consecutiveFailures: 3, openMs: 50 },
  adaptive: { strategy: 'failures', failureThreshold: 2, coolingMs: 100 },
  total: 20,
};

afterEach(() => {
  config.onUnhandledError = null;
});

describe('a listener', () => {
  it('that throws affects no request and no listener, and stays subscribed', async () => {
    const { clock, limiter } = rig(everything);
    const heard: string[] = [];
    const told: string[] = [];
    const errors: unknown[] = [];
    let thrown = 0;
    const fail = (what: string) => {
      thrown += 1;
      throw new Error(`of ${what}`);
    };
    config.onUnhandledError = (error) => errors.push(error);
    limiter.events$.subscribe(({ kind }) => {
      heard.push(kind);
      fail(kind);
    });
    limiter.state$.subscribe(fail);
    limiter.progress$.subscribe(() => fail('progress'));
    limiter.events$.subscribe(({ kind }) => told.push(kind));
    const runs = Array.from({ length: 6 }, (_, n) =>
      fate(limiter.run(() => n, { costs: { units: 1 } })),
    );
    await clock.advanceAsync(1000);
    for (let count = 0; count < 3; count += 1) limiter.recordFailure(new ApiError(500));
    await clock.advanceAsync(1000);
    limiter.close();
    expect(runs.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5]);
    expectIdle(limiter);
    expect(heard).toEqual(told);
    expect(new Set(heard)).toEqual(
      new Set([
        'limitDenied',
        'waiting',
        'waited',
        'milestone',
        'decelerated',
        'coolingStarted',
        'circuitOpened',
        'circuitHalfOpen',
        'reaccelerated',
        'closed',
        'drained',
      ]),
    );
    // RxJS reports in a later turn of the real event loop.
    await vi.waitFor(() => expect(errors).toHaveLength(thrown));
  });

  it.each([
    'run',
    'urgent',
    'acquire',
    'configure',
    'snapshot',
    'drain',
    'close',
    'recordFailure',
  ] as const)('may call the limiter back: %s', async (method) => {
    const { clock, limiter } = rig(everything);
    const late: { state: string }[] = [];
    let calls = 0;
    limiter.events$.subscribe(({ kind }) => {
      if (kind === 'limitDenied' || calls > 20) return;
      // Told while the requests are still being made: those that follow would be refused.
      if (kind === 'waiting' && method === 'close') return;
      calls += 1;
      if (method === 'run') late.push(fate(limiter.run(() => 'late')));
      if (method === 'urgent') late.push(fate(limiter.run(() => 'late', { priority: 5 })));
      if (method === 'acquire') late.push(fate(limiter.acquire().then((one) => one.release())));
      if (method === 'configure') limiter.configure({ concurrency: 1 + (calls % 3), total: calls });
      if (method === 'snapshot') limiter.snapshot();
      if (method === 'drain') late.push(fate(limiter.drain()));
      if (method === 'close') limiter.close();
      if (method === 'recordFailure' && kind !== 'circuitOpened') {
        limiter.recordFailure(new ApiError(400));
      }
    });
    const runs = Array.from({ length: 12 }, (_, n) =>
      fate(limiter.run(async () => n, { costs: { units: 1 } })),
    );
    await clock.advanceAsync(5000);
    limiter.close();
    await clock.advanceAsync(0);
    expect(calls).toBeGreaterThan(0);
    expect(runs.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(late.map(({ state }) => state)).not.toContain('open');
    expectIdle(limiter);
    expect(limiter.snapshot().state).toBe('closed');
    expect(clock.pendingTimers).toBe(0);
  });

  it('that sends a more urgent request during an event loses no request', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const { started, task, run, end } = script(limiter);
    let isFirst = true;
    limiter.events$.subscribe(({ kind }) => {
      if (kind !== 'waited' || !isFirst) return;
      isFirst = false;
      void limiter.run(task('urgent'), { priority: 9 });
    });
    for (const name of ['a', 'b', 'c']) run(name);
    for (const name of ['a', 'b', 'urgent', 'c']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['a', 'b', 'urgent', 'c']);
    expectIdle(limiter);
  });

  it('of the state that closes the limiter also gets the closed state', () => {
    const { limiter } = rig();
    const states: string[] = [];
    limiter.state$.subscribe((state) => {
      states.push(state);
      limiter.close();
    });
    expect(states).toEqual(['running', 'closed']);
  });

  it('that is missing costs nothing: no event objects are made', async () => {
    const next = vi.spyOn(Subject.prototype, 'next');
    const play = async (isHeard: boolean) => {
      const { clock, limiter } = rig({ ...everything, concurrency: 1 });
      const subscription = limiter.events$.subscribe();
      if (!isHeard) subscription.unsubscribe();
      next.mockClear();
      const reads = vi.spyOn(clock, 'now');
      const told = fate(limiter.run(() => 1, { costs: { units: 5 } }));
      fate(limiter.run(() => 1, { costs: { units: 5 } }));
      await clock.advanceAsync(200);
      expect(told.state).toBe('ok');
      limiter.close();
      return { told: next.mock.calls.length, reads: reads.mock.calls.length };
    };
    const heard = await play(true);
    const unheard = await play(false);
    expect(heard.told).toBeGreaterThan(4);
    // The two are the end of the limiter: no request is left, and nobody will use it any more.
    expect(unheard.told).toBe(2);
    // The clock is read once for what was waited, and only for those who listen.
    expect(heard.reads).toBeGreaterThan(unheard.reads);
    next.mockRestore();
  });
});
