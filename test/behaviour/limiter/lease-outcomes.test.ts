import { describe, expect, it } from 'vitest';
import type { LimiterOptions } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig } from '../../limiter/rig.ts';
import { ApiError, tooMany } from '../../request/harness.ts';

const watched: LimiterOptions = {
  concurrency: 8,
  circuitBreaker: { consecutiveFailures: 2 },
  adaptive: { strategy: 'failures', failureThreshold: 2 },
};

describe('a lease that is released', () => {
  it('as failed with a 429 closes the gates for all requests, for the named wait', async () => {
    const { clock, limiter } = rig();
    const lease = await limiter.acquire({ bytes: 10 });
    lease.release('failed', tooMany(3000));
    expect(limiter.snapshot()).toMatchObject({
      mode: 'throttled',
      backoff: { state: 'closed', closedForMs: 3000 },
      ended: { ok: 0, failed: 1, rejected: 0, cancelled: 0 },
    });
    const next = fate(limiter.acquire());
    await clock.advanceAsync(2999);
    expect(next.state).toBe('open');
    await clock.advanceAsync(1);
    expect(next.state).toBe('ok');
    next.value?.release();
    expectIdle(limiter);
  });

  it('as failed with a 429 from before the backoff extends it, but starts no other', async () => {
    const { limiter } = rig({ adaptive: false });
    const [one, two] = [await limiter.acquire(), await limiter.acquire()];
    one.release('failed', tooMany(1000));
    two.release('failed', tooMany(4000));
    expect(limiter.snapshot().backoff).toMatchObject({ closedForMs: 4000, epoch: 1 });
  });

  it('as failed with a 429 of a large request waits longer', async () => {
    const { limiter } = rig({ adaptive: false });
    const lease = await limiter.acquire({ bytes: 200_000 });
    lease.release('failed', tooMany());
    expect(limiter.snapshot().backoff.closedForMs).toBe(5000);
  });

  it.each([
    ['a 500', new ApiError(500)],
    ['a broken connection', Object.assign(new Error('no'), { code: 'ECONNRESET' })],
    ['nothing said', undefined],
  ])('as failed with %s counts as a failure, and closes no gate', async (_name, error) => {
    const { limiter } = rig(watched);
    (await limiter.acquire()).release('failed', error);
    expect(limiter.snapshot()).toMatchObject({
      failures: 1,
      mode: 'normal',
      circuitBreaker: { failures: 1, state: 'closed' },
      backoff: { state: 'open', epoch: 0 },
      ended: { failed: 1 },
    });
    (await limiter.acquire()).release('failed', error);
    expect(limiter.snapshot()).toMatchObject({
      state: 'circuitOpen',
      concurrency: { limit: 4, inFlight: 0 },
    });
  });

  it.each([
    ['broken connections', Object.assign(new Error('no'), { code: 'ECONNRESET' })],
    ['answers of a gateway', new ApiError(502)],
  ])('as failed with %s begins an outage at the third request', async (_name, error) => {
    const { limiter } = rig();
    const modes: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      (await limiter.acquire()).release('failed', error);
      modes.push(limiter.snapshot().mode);
    }
    expect(modes).toEqual(['normal', 'normal', 'outage']);
  });

  it('as failed with a 401 opens the circuit at once, and says why', async () => {
    const { limiter } = rig(watched);
    const events = listen(limiter);
    (await limiter.acquire()).release('failed', new ApiError(401));
    expect(limiter.snapshot().circuitBreaker).toMatchObject({
      state: 'open',
      reason: 'authorisation',
    });
    expect(events).toMatchObject([{ kind: 'circuitOpened', reason: 'authorisation' }]);
    await expect(limiter.acquire()).rejects.toMatchObject({
      code: 'CIRCUIT_OPEN',
      reason: 'authorisation',
      retryAfterMs: 30_000,
    });
  });

  it('as failed because of its content does not count as the provider’s failure', async () => {
    const { limiter } = rig(watched);
    (await limiter.acquire()).release('failed', new ApiError(400));
    expect(limiter.snapshot()).toMatchObject({
      failures: 0,
      circuitBreaker: { failures: 0 },
      ended: { failed: 1 },
    });
  });

  it('as ok ends a series of failures', async () => {
    const { limiter } = rig(watched);
    (await limiter.acquire()).release('failed');
    (await limiter.acquire()).release('ok');
    (await limiter.acquire()).release('failed', new ApiError(502));
    expect(limiter.snapshot()).toMatchObject({
      circuitBreaker: { state: 'closed', failures: 1 },
      ended: { ok: 1, failed: 2 },
    });
  });

  it('as cancelled counts for nothing, and gives its rate-limit charges back', async () => {
    const { limiter } = rig({ ...watched, limits: { requests: { limit: 2, windowMs: 1000 } } });
    (await limiter.acquire()).release('cancelled', new ApiError(500));
    expect(limiter.snapshot()).toMatchObject({
      failures: 0,
      circuitBreaker: { failures: 0 },
      rateLimit: { requests: { used: 0 } },
      ended: { ok: 0, failed: 0, cancelled: 1 },
    });
    (await limiter.acquire()).release('ok');
    expect(limiter.snapshot().rateLimit).toMatchObject({ requests: { used: 1 } });
  });

  it('with an unknown outcome is refused, and stays held', async () => {
    const { limiter } = rig();
    const lease = await limiter.acquire();
    expect(() => lease.release('well' as 'ok')).toThrow(
      '`outcome` must be one of "ok", "failed", "cancelled", got "well"',
    );
    expect(lease.isReleased).toBe(false);
    lease.release();
    expect(limiter.snapshot().ended).toEqual({ ok: 1, failed: 0, rejected: 0, cancelled: 0 });
  });

  it('is judged by the given classifier; if that throws, it counts as a failure', async () => {
    const classify = (error: unknown) => {
      if (error === 'busy') return { kind: 'throttled', retryAfterMs: 70 } as const;
      throw new Error('of the classifier');
    };
    const { limiter } = rig({ ...watched, classify });
    (await limiter.acquire()).release('failed', 'busy');
    expect(limiter.snapshot()).toMatchObject({ failures: 1, backoff: { closedForMs: 70 } });
    const other = rig({ ...watched, classify }).limiter;
    (await other.acquire()).release('failed', 'else');
    expect(other.snapshot()).toMatchObject({ failures: 1, circuitBreaker: { failures: 1 } });
    expectIdle(other);
  });
});
