import { describe, expect, it } from 'vitest';
import { CostAboveLimitError, LimiterClosedError, UnknownLimitError } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { failing, listen, rig } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

const NONE = { ok: 0, failed: 0, rejected: 0 };

describe('tryAcquire', () => {
  it('returns a lease if no request has to wait', () => {
    const { limiter } = rig({ concurrency: 1 });
    const lease = limiter.tryAcquire({ bytes: 10, tokens: 3 });
    expect(lease).toMatchObject({ bytes: 10, tokens: 3, isReleased: false });
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { inFlight: 1 },
      byteBudget: { used: 10 },
    });
    lease?.release();
    expectIdle(limiter);
  });

  it.each([
    ['slots', { concurrency: 1 }, {}],
    ['bytes', { maxBytes: 5 }, { bytes: 10 }],
    ['requests a minute', { requestsPerMinute: 1 }, {}],
    ['a pace', { pace: { intervalMs: 100 } }, {}],
  ])(
    'returns undefined, and holds nothing, if there are no %s left',
    async (_name, options, request) => {
      const { limiter } = rig(options);
      const first = limiter.tryAcquire(request);
      const before = limiter.snapshot();
      expect(first).toBeDefined();
      expect(limiter.tryAcquire(request)).toBeUndefined();
      const { concurrency, byteBudget, rateLimit } = limiter.snapshot();
      expect({ concurrency, byteBudget, rateLimit }).toEqual({
        concurrency: before.concurrency,
        byteBudget: before.byteBudget,
        rateLimit: before.rateLimit,
      });
      first?.release();
      expectIdle(limiter);
    },
  );

  it('never overtakes waiting requests', async () => {
    const { clock, limiter } = rig({ limits: { units: { limit: 10, windowMs: 1000 } } });
    const held = limiter.tryAcquire({ costs: { units: 8 } });
    const large = fate(limiter.acquire({ costs: { units: 9 } }));
    expect(limiter.tryAcquire({ costs: { units: 1 } })).toBeUndefined();
    held?.release('cancelled');
    await clock.advanceAsync(0);
    expect(large.state).toBe('ok');
    expect(limiter.tryAcquire({ costs: { units: 1 } })).toBeDefined();
  });

  it('returns undefined during a backoff, and while its probe is in flight', async () => {
    const { clock, limiter } = rig({ adaptive: false });
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 50 });
    expect(limiter.tryAcquire()).toBeUndefined();
    await clock.advanceAsync(50);
    const probe = limiter.tryAcquire();
    expect(probe).toBeDefined();
    expect(limiter.tryAcquire()).toBeUndefined();
    probe?.release('ok');
    expect(limiter.tryAcquire()).toBeDefined();
  });

  it('throws when the limiter is closed', async () => {
    const { limiter } = rig();
    limiter.close();
    expect(() => limiter.tryAcquire()).toThrow(LimiterClosedError);
    expectIdle(limiter);
  });

  it('returns undefined while the circuit is open', async () => {
    const { clock, limiter } = rig({ circuitBreaker: { consecutiveFailures: 1, openMs: 10 } });
    await failing(limiter, 1, new ApiError(500));
    expect(limiter.tryAcquire()).toBeUndefined();
    await clock.advanceAsync(10);
    const probe = limiter.tryAcquire();
    expect(probe).toBeDefined();
    expect(limiter.tryAcquire()).toBeUndefined();
    probe?.release();
    expect(limiter.snapshot().circuitBreaker?.state).toBe('closed');
  });

  it('returns undefined if requests would fail at once for a rate limit', () => {
    const { limiter } = rig({ requestsPerMinute: 1, onLimit: 'fail' });
    expect(limiter.tryAcquire()).toBeDefined();
    expect(limiter.tryAcquire()).toBeUndefined();
  });

  it.each([
    ['a cost above its limit', { units: 11 }, CostAboveLimitError],
    ['a cost of a limit that there is none', { unit: 1 }, UnknownLimitError],
  ])('throws for %s, and holds nothing', (_name, costs, error) => {
    const { limiter } = rig({ limits: { units: { limit: 10, windowMs: 1000 } } });
    expect(() => limiter.tryAcquire({ costs })).toThrow(error);
    expect(limiter.snapshot()).toMatchObject({ ended: { rejected: 1 }, tokensUsed: undefined });
    expectIdle(limiter);
  });

  it.each([
    [{ bytes: -1 }, '`bytes` must be a finite number >= 0, got -1'],
    [{ costs: { units: Number.NaN } }, '`costs.units` must be a finite number >= 0, got NaN'],
    [{ priority: 0.5 }, '`priority` must be an integer'],
    [
      { signal: AbortSignal.abort() },
      '`signal` is no option of limiter.tryAcquire; it takes bytes',
    ],
    [{ timeoutMs: 5 }, '`timeoutMs` is no option of limiter.tryAcquire; it takes bytes'],
    [null as never, 'the options of a call must be an object, got null'],
  ])('refuses %j', (request, message) => {
    const { limiter } = rig();
    expect(() => limiter.tryAcquire(request as object)).toThrow(message);
    expectIdle(limiter);
  });

  it('that returns undefined counts neither for progress nor as a rejection', () => {
    const { limiter } = rig({ concurrency: 1, total: 10 });
    const events = listen(limiter);
    limiter.tryAcquire();
    for (let poll = 0; poll < 20; poll += 1) expect(limiter.tryAcquire()).toBeUndefined();
    expect(limiter.snapshot()).toMatchObject({ ended: NONE, progress: { percentage: 0 } });
    expect(events).toEqual([]);
  });
});
