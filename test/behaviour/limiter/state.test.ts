import { describe, expect, it } from 'vitest';
import { failing, rig } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

/** Each state with the time at which it came. */
function watchState({ clock, limiter }: ReturnType<typeof rig>): string[] {
  const states: string[] = [];
  limiter.state$.subscribe((state) => states.push(`${clock.now()} ${state}`));
  return states;
}

describe('state$', () => {
  it('emits the present state to each subscriber, then only changes', async () => {
    const made = rig({ requestsPerMinute: 10, total: 5 });
    const states = watchState(made);
    for (let count = 0; count < 5; count += 1) await made.limiter.run(() => count);
    made.limiter.configure({ requestsPerMinute: 20 });
    expect(states).toEqual(['0 running']);
    made.limiter.close();
    expect(watchState(made)).toEqual(['0 closed']);
    expect(states).toEqual(['0 running', '0 closed']);
  });

  it('follows the circuit on time, without a request', async () => {
    const made = rig({ circuitBreaker: { consecutiveFailures: 2, openMs: 300 } });
    const { clock, limiter } = made;
    const states = watchState(made);
    await clock.advanceAsync(50);
    await failing(limiter, 2, new ApiError(500));
    await clock.advanceAsync(1000);
    // Half open: a probe may go.
    expect(states).toEqual(['0 running', '50 circuitOpen', '350 running']);
    limiter.tryAcquire()?.release('failed', new ApiError(500));
    await clock.advanceAsync(600);
    expect(states.slice(3)).toEqual(['1050 circuitOpen', '1650 running']);
  });

  it('follows the adaptive limit, through all its steps', async () => {
    const made = rig({
      concurrency: 8,
      adaptive: { strategy: 'failures', failureThreshold: 1, coolingMs: 100 },
    });
    const { clock, limiter } = made;
    const states = watchState(made);
    await clock.advanceAsync(10);
    await failing(limiter, 1, new ApiError(500));
    await clock.advanceAsync(2000);
    expect(states).toEqual(['0 running', '10 cooling', '410 running']);
    expect(limiter.snapshot()).toMatchObject({ state: 'running', concurrency: { limit: 8 } });
  });

  it('emits the most serious state: closed, then the circuit, then the adaptive limit', async () => {
    const made = rig({
      concurrency: 8,
      circuitBreaker: { consecutiveFailures: 2, openMs: 50 },
      adaptive: { strategy: 'failures', failureThreshold: 1, coolingMs: 1000 },
    });
    const { clock, limiter } = made;
    const states = watchState(made);
    const held = await limiter.acquire();
    await failing(limiter, 2, new ApiError(500));
    await clock.advanceAsync(100);
    limiter.close();
    await clock.advanceAsync(10);
    held.release('failed', new ApiError(500));
    await clock.advanceAsync(5000);
    expect(states).toEqual([
      '0 running',
      '0 cooling',
      '0 circuitOpen',
      '50 cooling',
      '100 draining',
      '110 closed',
    ]);
  });

  it('agrees with the snapshot at each emission', async () => {
    const { clock, limiter } = rig({
      concurrency: 4,
      circuitBreaker: { consecutiveFailures: 3, openMs: 70 },
      adaptive: { strategy: 'failures', failureThreshold: 2, coolingMs: 90 },
    });
    const mismatches: string[] = [];
    let told = 0;
    limiter.state$.subscribe((state) => {
      told += 1;
      const seen = limiter.snapshot().state;
      if (seen !== state) mismatches.push(`${state} but ${seen}`);
    });
    for (let turn = 0; turn < 40; turn += 1) {
      limiter.tryAcquire()?.release(turn % 5 === 4 ? 'ok' : 'failed', new ApiError(500));
      await clock.advanceAsync(30);
    }
    limiter.close();
    expect(mismatches).toEqual([]);
    expect(told).toBeGreaterThan(6);
  });

  it('ends with its subscription', async () => {
    const { limiter } = rig({ circuitBreaker: { consecutiveFailures: 1 } });
    const states: string[] = [];
    limiter.state$.subscribe((state) => states.push(state)).unsubscribe();
    await failing(limiter, 1, new ApiError(500));
    expect(states).toEqual(['running']);
  });
});
