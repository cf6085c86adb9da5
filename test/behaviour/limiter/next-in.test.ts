import { describe, expect, it } from 'vitest';
import type { LimiterEvent } from '../../../src/model/limiter-event.ts';
import { fate } from '../../limiter/harness.ts';
import { rig, script } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

describe('snapshot().nextInMs', () => {
  it('is the time until the next probe while an outage holds', async () => {
    const { clock, limiter } = rig({ concurrency: 2 });
    for (let n = 0; n < 5; n += 1) fate(limiter.run(() => Promise.reject(refused())));
    await clock.advanceAsync(400);
    const { nextInMs = Number.NaN, mode, concurrency } = limiter.snapshot();
    expect(mode).toBe('outage');
    expect(nextInMs).toBeGreaterThan(0);
    expect(concurrency.nextInMs).toBe(nextInMs);
    const { failedProbes } = limiter.snapshot().outage ?? {};
    await clock.advanceAsync(nextInMs);
    expect(limiter.snapshot().outage?.failedProbes).toBe((failedProbes ?? 0) + 1);
  });

  it('is the time of a backoff or a rate limit, in whichever queue the next request waits', async () => {
    const { clock, limiter } = rig({ adaptive: false, requestsPerMinute: 1 });
    const calls = script(limiter);
    calls.run('a');
    calls.run('b');
    await clock.advanceAsync(0);
    expect(limiter.snapshot()).toMatchObject({ binding: 'rateLimit', nextInMs: 60_000 });
    limiter.clear();
    const closed = rig({ adaptive: false });
    closed.limiter.feedback.next({ kind: 'throttled', retryAfterMs: 500 });
    fate(closed.limiter.run(() => Promise.reject(new ApiError(400))));
    await closed.clock.advanceAsync(100);
    expect(closed.limiter.snapshot()).toMatchObject({ binding: 'backoff', nextInMs: 400 });
  });

  it('is the whole wait while a reported rate holds requests back, which an event tells once', async () => {
    const { clock, limiter } = rig();
    const held: LimiterEvent[] = [];
    limiter.events$.subscribe((event) => {
      if (event.kind === 'rateHeld') held.push(event);
    });
    const headers = {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '3600',
    };
    for (let n = 0; n < 40; n += 1) fate(limiter.run(async () => new Response('{}', { headers })));
    await clock.advanceAsync(10_000);
    const { waiting, binding, nextInMs = Number.NaN, adaptive } = limiter.snapshot();
    expect({ waiting: waiting > 0, binding }).toEqual({ waiting: true, binding: 'pace' });
    expect(adaptive).toMatchObject({ origin: 'headers' });
    const nextAt = clock.now() + nextInMs;
    expect(nextInMs).toBeGreaterThan(600_000);
    expect(held).toEqual([
      { kind: 'rateHeld', level: 'warn', at: expect.any(Number), untilAt: expect.closeTo(nextAt) },
    ]);
    await clock.advanceAsync(nextInMs - 1_100);
    expect(limiter.snapshot()).toMatchObject({ waiting, nextInMs: expect.closeTo(1_100) });
    await clock.advanceAsync(1_200);
    expect(limiter.snapshot().waiting).toBe(waiting - 1);
    await clock.advanceAsync(2_000);
    expect(held).toHaveLength(2);
    limiter.clear();
  });

  it('is undefined from when the next request also needs the end of another one', async () => {
    const { limiter } = rig({ adaptive: false, concurrency: 2, requestsPerMinute: 1 });
    const calls = script(limiter);
    calls.run('a');
    calls.run('b');
    expect(limiter.snapshot().nextInMs).toBe(60_000);
    limiter.configure({ concurrency: 1 });
    expect(limiter.snapshot()).toMatchObject({ binding: 'concurrency', nextInMs: undefined });
  });

  it('is undefined if no request waits, or only the end of another request helps', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    expect(limiter.snapshot().nextInMs).toBeUndefined();
    const calls = script(limiter);
    calls.run('a');
    calls.run('b');
    await clock.advanceAsync(0);
    expect(limiter.snapshot()).toMatchObject({ waiting: 1, binding: 'concurrency' });
    expect(limiter.snapshot().nextInMs).toBeUndefined();
    limiter.clear();
  });
});
