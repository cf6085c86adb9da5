import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { LimiterOptions } from '../../../src/index.ts';
import { countedSignal, expectIdle, fate } from '../../limiter/harness.ts';
import { failing, rig, script } from '../../limiter/rig.ts';
import { ApiError, watch } from '../../request/harness.ts';

const reason = new Error('enough');

const gates: [string, LimiterOptions][] = [
  ['rateLimit', { limits: { requests: { limit: 1, windowMs: 100 } } }],
  ['pace', { pace: { intervalMs: 100, jitter: 0 } }],
  ['circuitBreaker', { circuitBreaker: { consecutiveFailures: 1, openMs: 100, onOpen: 'wait' } }],
];

describe.each(gates)('an abort while a request waits for: %s', (gate, options) => {
  const block = async (limiter: ReturnType<typeof rig>['limiter']) => {
    if (gate === 'circuitBreaker') await failing(limiter, 1, new ApiError(500));
    else (await limiter.acquire()).release();
  };

  it('removes it at once, and affects no request before or after it', async () => {
    const { clock, limiter } = rig(options);
    await block(limiter);
    const at: [string, number][] = [];
    const run = (name: string, signal?: AbortSignal) =>
      fate(limiter.run(() => void at.push([name, clock.now()]), signal && { signal }));
    const aborts = [countedSignal(), countedSignal()];
    const gone = [run('a', aborts[0]?.signal), run('b'), run('c', aborts[1]?.signal)];
    watch(range(0, 1).pipe(limiter.throttle(async () => void at.push(['stream', clock.now()]))));
    expect(limiter.snapshot()).toMatchObject({ waiting: 4, binding: gate });
    await clock.advanceAsync(50);
    for (const { controller } of aborts) controller.abort(reason);
    expect(limiter.snapshot().waiting).toBe(2);
    await clock.runAllAsync();
    expect(gone.map(({ error }) => error)).toEqual([reason, undefined, reason]);
    expect(at).toEqual([
      ['b', 100],
      ['stream', gate === 'circuitBreaker' ? 100 : 200],
    ]);
    expect(aborts.map(({ listeners }) => listeners.size)).toEqual([0, 0]);
    expect(limiter.snapshot().ended).toMatchObject({ cancelled: 2 });
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves nothing behind if no other request waits', async () => {
    const { clock, limiter } = rig(options);
    await block(limiter);
    const { controller, signal } = countedSignal();
    const gone = fate(limiter.acquire({ signal, bytes: 7, tokens: 5 }));
    controller.abort(reason);
    await clock.advanceAsync(0);
    expect(gone.error).toBe(reason);
    expectIdle(limiter);
    await clock.runAllAsync();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('an abort', () => {
  it('during the call admits the next request, charged as before', async () => {
    const { clock, limiter } = rig({
      concurrency: 1,
      limits: { units: { limit: 9, windowMs: 50 } },
    });
    const { started, task, run } = script(limiter);
    const controller = new AbortController();
    const costs = { units: 2 };
    const gone = fate(limiter.run(task('a'), { signal: controller.signal, costs }));
    run('b', { costs });
    controller.abort(reason);
    await clock.advanceAsync(0);
    expect(gone.error).toBe(reason);
    expect(started).toEqual(['a', 'b']);
    // It was sent, so what it cost stays used.
    expect(limiter.snapshot()).toMatchObject({
      rateLimit: { units: { used: 4 } },
      concurrency: { inFlight: 1 },
    });
  });

  it('of a probe makes the next request the probe', async () => {
    const { clock, limiter } = rig({
      circuitBreaker: { consecutiveFailures: 1, openMs: 100, onOpen: 'wait' },
    });
    await failing(limiter, 1, new ApiError(500));
    const { started, task, run, end } = script(limiter);
    const controller = new AbortController();
    fate(limiter.run(task('probe'), { signal: controller.signal }));
    run('next');
    await clock.advanceAsync(100);
    expect(started).toEqual(['probe']);
    controller.abort(reason);
    await clock.advanceAsync(0);
    expect(started).toEqual(['probe', 'next']);
    end('next');
    await clock.advanceAsync(0);
    expect(limiter.snapshot().circuitBreaker?.state).toBe('closed');
    expectIdle(limiter);
  });
});
