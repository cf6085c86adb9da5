import { describe, expect, it } from 'vitest';
import type { LimiterOptions, Verdict } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig } from '../../limiter/rig.ts';
import { ApiError, tooMany } from '../../request/harness.ts';

const watched: LimiterOptions = {
  concurrency: 8,
  tokensPerMinute: 1000,
  circuitBreaker: { consecutiveFailures: 2 },
  adaptive: { strategy: 'failures', failureThreshold: 3 },
};

describe('recordFailure', () => {
  it('counts for the circuit and the adaptive limit, as a failure of a request does', () => {
    const { clock, limiter } = rig(watched);
    const events = listen(limiter);
    limiter.recordFailure(new ApiError(500));
    expect(limiter.snapshot()).toMatchObject({ failures: 1, circuitBreaker: { failures: 1 } });
    limiter.recordFailure();
    expect(limiter.snapshot().state).toBe('circuitOpen');
    limiter.recordFailure();
    expect(events.map(({ kind }) => kind)).toEqual([
      'circuitOpened',
      'decelerated',
      'coolingStarted',
    ]);
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 4 },
      ended: { ok: 0, failed: 3 },
      progress: { failed: 3 },
    });
    expect(clock.nextTimerMs).toBe(30_000);
  });

  it('judges an error by its fields', async () => {
    const { clock, limiter } = rig(watched);
    limiter.recordFailure(tooMany(2000));
    expect(limiter.snapshot()).toMatchObject({
      mode: 'throttled',
      failures: 1,
      backoff: { closedForMs: 2000 },
      circuitBreaker: { failures: 0 },
    });
    const next = fate(limiter.acquire());
    await clock.advanceAsync(2000);
    expect(next.state).toBe('ok');
    limiter.recordFailure(new ApiError(403));
    expect(limiter.snapshot().circuitBreaker).toMatchObject({
      state: 'open',
      reason: 'authorisation',
    });
  });

  it('throws for an error or a wrong verdict of the classifier, and records nothing', () => {
    const answers: (() => Verdict)[] = [
      () => {
        throw new Error('of the classifier');
      },
      () => ({ kind: 'bad' }) as unknown as Verdict,
      () => 'throttled' as unknown as Verdict,
      () => ({ kind: 'throttled', retryAfter: 5 }) as Verdict,
    ];
    const { limiter } = rig({ ...watched, classify: () => answers.shift()?.() });
    expect(() => limiter.recordFailure('x')).toThrow('of the classifier');
    expect(() => limiter.recordFailure('x')).toThrow('`classify().kind` must be one of');
    expect(() => limiter.recordFailure('x')).toThrow('`classify()` must be an object, got "thr');
    expect(() => limiter.recordFailure('x')).toThrow('did you mean `retryAfterMs`?');
    expect(limiter.snapshot()).toMatchObject({ failures: 0, circuitBreaker: { failures: 0 } });
  });

  it('is ignored by a limiter that counts no failures', () => {
    const { limiter } = rig();
    limiter.recordFailure(new ApiError(500));
    expect(limiter.snapshot()).toMatchObject({ state: 'running', mode: 'normal', failures: 0 });
  });
});

describe('recordSuccess', () => {
  it('ends a series of failures, and charges its tokens', () => {
    const { limiter } = rig(watched);
    limiter.recordFailure();
    limiter.recordSuccess({ tokens: 30 });
    limiter.recordFailure();
    expect(limiter.snapshot()).toMatchObject({
      tokensUsed: 30,
      state: 'running',
      circuitBreaker: { failures: 1, state: 'closed' },
    });
  });

  it('ends the probing of a backoff, once its time is over', async () => {
    const { clock, limiter } = rig({ adaptive: false });
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 100 });
    limiter.recordSuccess();
    expect(limiter.snapshot().backoff.state).toBe('closed');
    const leases = [0, 1, 2].map(() => fate(limiter.acquire()));
    await clock.advanceAsync(100);
    expect(leases.map(({ state }) => state)).toEqual(['ok', 'open', 'open']);
    limiter.recordSuccess();
    await clock.advanceAsync(0);
    expect(leases.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
  });

  it('with wrong values throws, and records nothing', () => {
    const { limiter } = rig(watched);
    limiter.recordFailure();
    expect(() => limiter.recordSuccess({ tokens: -1 })).toThrow('`tokens` must be a finite number');
    const message = '`token` is no option of limiter.recordSuccess; did you mean `tokens`?';
    expect(() => limiter.recordSuccess({ token: 1 } as object)).toThrow(message);
    expect(() => limiter.recordSuccess(5 as never)).toThrow('must be an object, got 5');
    expect(limiter.snapshot()).toMatchObject({ tokensUsed: 0, circuitBreaker: { failures: 1 } });
  });
});

describe('recordTokens', () => {
  it('charges tokens used outside of the limiter, and makes requests wait for them', async () => {
    const { clock, limiter } = rig({ limits: { tokens: { limit: 100, windowMs: 500 } } });
    limiter.recordTokens(60);
    limiter.recordTokens(60.5);
    expect(limiter.snapshot()).toMatchObject({ tokensUsed: 121, tokensRemaining: 0 });
    const next = fate(limiter.acquire({ tokens: 1 }));
    await clock.advanceAsync(499);
    expect(next.state).toBe('open');
    await clock.advanceAsync(1);
    expect(next.state).toBe('ok');
  });

  it('is ignored by a limiter without such a limit, but refuses wrong values', () => {
    const { limiter } = rig({ requestsPerMinute: 5 });
    limiter.recordTokens(50);
    expect(() => limiter.recordTokens(Number.NaN)).toThrow('`tokens` must be a finite number');
    expect(limiter.snapshot().rateLimit).toMatchObject({ requests: { used: 0 } });
    expectIdle(limiter);
  });
});
