import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CircuitOpenError, type Outcome } from '../../src/index.ts';
import { ApiError } from '../request/harness.ts';
import { fate } from './harness.ts';
import { failing, listen, rig } from './rig.ts';

const onOpen = 'wait' as const;

describe('limiter.circuit', () => {
  it('is there where a circuit breaker is on', () => {
    expect(rig().limiter.circuit).toBeUndefined();
    const { limiter } = rig({ circuitBreaker: true });
    expect(limiter.circuit?.state).toBe('closed');
    expect(limiter.circuit?.snapshot()).toEqual(limiter.snapshot().circuitBreaker);
  });

  it('opens by ratio: failures that are never in a row', async () => {
    const { limiter } = rig({
      circuitBreaker: { failureRatio: 0.5, leastRequests: 6, windowMs: 10_000 },
    });
    const events = listen(limiter);
    for (let turn = 0; turn < 3; turn += 1) {
      await limiter.run(() => 'ok');
      await failing(limiter, 1, new ApiError(500));
    }
    expect(limiter.circuit?.state).toBe('open');
    expect(events).toMatchObject([{ kind: 'circuitOpened', failures: 1 }]);
    await expect(limiter.run(() => 1)).rejects.toBeInstanceOf(CircuitOpenError);
  });

  it('isolates: requests fail until the last isolation ends, and what is known goes on', async () => {
    const { clock, limiter } = rig({ circuitBreaker: { consecutiveFailures: 1, openMs: 100 } });
    const events = listen(limiter);
    const states: string[] = [];
    limiter.state$.subscribe((state) => states.push(`${clock.now()} ${state}`));
    const inFlight = await limiter.acquire();
    const first = limiter.circuit?.isolate('maintenance');
    const second = limiter.circuit?.isolate();
    await expect(limiter.run(() => 1)).rejects.toMatchObject({
      retryAfterMs: Number.POSITIVE_INFINITY,
      reason: 'isolated',
      message: 'the circuit is open (isolated): until its isolation ends',
    });
    await clock.advanceAsync(10);
    second?.end();
    second?.end();
    await expect(limiter.run(() => 1)).rejects.toMatchObject({ reason: 'maintenance' });
    expect(limiter.snapshot()).toMatchObject({
      state: 'circuitOpen',
      circuitBreaker: { state: 'open', isIsolated: true, reason: 'maintenance' },
    });
    inFlight.release('failed', new ApiError(500));
    first?.end();
    expect(limiter.circuit?.snapshot()).toMatchObject({ state: 'open', isIsolated: false });
    await clock.advanceAsync(100);
    await limiter.run(() => 1);
    expect(limiter.circuit?.state).toBe('closed');
    expect(events.map(({ kind, at }) => `${at} ${kind}`)).toEqual([
      '0 circuitIsolated',
      '10 circuitOpened',
      '10 circuitIsolationEnded',
      '110 circuitHalfOpen',
      '110 circuitClosed',
    ]);
    expect(states).toEqual(['0 running', '0 circuitOpen', '110 running']);
  });

  it('isolates: streams that wait go on when it ends, and a block ends it', async () => {
    const { clock, limiter } = rig({ circuitBreaker: { onOpen } });
    const source = new Subject<number>();
    const outcomes: Outcome<number, number>[] = [];
    source
      .pipe(limiter.throttle(async (n) => n, { outcomes: true }))
      .subscribe((outcome) => outcomes.push(outcome));
    {
      using _ = limiter.circuit?.isolate();
      source.next(1);
      const run = fate(limiter.run(() => 2));
      await clock.advanceAsync(1_000);
      expect(run.state).toBe('open');
      expect(limiter.snapshot().binding).toBe('circuitBreaker');
      expect(clock.pendingTimers).toBe(0);
    }
    await clock.advanceAsync(0);
    expect(outcomes.map(({ status }) => status)).toEqual(['ok']);
    expect(outcomes[0]?.stats.waits).toMatchObject({ circuitBreaker: { waitMs: 1_000 } });
  });

  it('goes on elsewhere from an export: open for the rest of its time', async () => {
    const one = rig({ circuitBreaker: { consecutiveFailures: 2, openMs: 1_000 } });
    await failing(one.limiter, 2, new ApiError(500));
    await one.clock.advanceAsync(400);
    const saved = JSON.parse(JSON.stringify(one.limiter.circuit?.export()));
    expect(saved).toEqual({ version: 1, state: 'open', failures: 2, openMs: 1_000, leftMs: 600 });
    const other = rig({ circuitBreaker: { consecutiveFailures: 2, openMs: 1_000, onOpen } });
    const events = listen(other.limiter);
    other.limiter.circuit?.restore(saved);
    const run = fate(other.limiter.run(() => 'probe'));
    await other.clock.advanceAsync(599);
    expect(run.state).toBe('open');
    await other.clock.advanceAsync(1);
    expect(run.value).toBe('probe');
    expect(events.map(({ kind }) => kind)).toContain('circuitOpened');
  });

  it.each([
    [{ version: 2 }, 'version'],
    [{ state: 'ajar' }, 'state'],
    [{ failures: -1 }, 'failures'],
    [{ openMs: Number.NaN }, 'openMs'],
    [{ leftMs: '5' }, 'leftMs'],
    [{ recent: { requests: 1, failures: 2 } }, 'recent.requests'],
    [{ colour: 'red' }, 'colour'],
  ])('refuses %o by name, and changes nothing', (wrong, name) => {
    const { limiter } = rig({ circuitBreaker: true });
    const { circuit } = limiter;
    const saved = { ...circuit?.export(), state: 'open', ...wrong } as never;
    expect(() => circuit?.restore(saved)).toThrow(name);
    expect(circuit?.state).toBe('closed');
    expect(() => circuit?.isolate(7 as never)).toThrow('`reason` must be a string, got 7');
  });
});
