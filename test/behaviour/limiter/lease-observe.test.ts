import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  type Lease,
  type LimiterOptions,
  type Verdict,
} from '../../../src/index.ts';
import { createProvider, ManualClock, seededRandom } from '../../../src/simulator/index.ts';
import { limit } from '../../limiter/adaptive/world.ts';
import { rig } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

const REQUEST = { inputTokens: 1, maxTokens: 1, outputTokens: 1 };

const headers = (remaining: number) => ({
  'x-ratelimit-limit-requests': '600',
  'x-ratelimit-remaining-requests': String(remaining),
});

const refused = (seconds: number) =>
  new Response('', { status: 429, headers: { 'retry-after': `${seconds}` } });

/** The end of a lease whose user has observed an answer. */
async function afterObserving(answer: unknown, options?: LimiterOptions) {
  const { limiter } = rig(options);
  const lease = await limiter.acquire();
  expect(lease.observe(answer)).toBe(answer);
  lease.release();
  return limiter.snapshot();
}

describe('lease.observe', () => {
  it.each([
    ['ok', 'headers'],
    ['cancelled', 'start'],
  ] as const)('reads the limits of an answer whose lease is released as %s', async (end, from) => {
    const { clock, limiter } = rig();
    for (let n = 0; n < 20; n += 1) {
      const lease = await limiter.acquire();
      lease.observe({ data: {}, response: { headers: headers(2) } });
      lease.release(end);
      await clock.advanceAsync(500);
    }
    expect(limiter.snapshot().adaptive).toMatchObject({ origin: from });
  });

  it('reads the limits of an answer that an error without limits follows', async () => {
    const told: unknown[] = [];
    const isFailure = ({ limits }: Verdict) => told.push(limits) > 0;
    const { limiter } = rig({ isFailure, circuitBreaker: true });
    const lease = await limiter.acquire();
    lease.observe(new Headers(headers(2)));
    lease.release('failed', new ApiError(400));
    expect(told).toMatchObject([[{ unit: 'requests', limit: 600, remaining: 2 }]]);
  });

  it('begins throttled mode if nothing is left, where the rate adapts', async () => {
    const { mode } = await afterObserving(new Response('', { headers: headers(0) }));
    expect(mode).toBe('throttled');
    const without = { adaptive: false } as const;
    const unchanged = await afterObserving(new Response('', { headers: headers(0) }), without);
    expect(unchanged.mode).toBe('normal');
  });

  it('counts no answer as accepted that is an error with status 200', async () => {
    const { limiter } = rig();
    const lease = await limiter.acquire();
    const data = { error: { type: 'rate_limit_error', status: 429 } };
    lease.observe({ status: 200, headers: headers(2), data });
    expect(limiter.snapshot().adaptive).toMatchObject({ origin: 'start' });
    lease.release();
    expect(limiter.snapshot().ended).toMatchObject({ ok: 0, failed: 1 });
  });

  it('lets an answer count when it begins, however long the lease is held then', async () => {
    const clock = new ManualClock();
    const limits = [limit('fixed-window', 200, 60_000)];
    const latencies = { latency: 1_000, rejectLatencyMs: 50 };
    const provider = createProvider({ clock, headers: 'openai', limits, ...latencies });
    const limiter = createLimiter({ concurrency: 500, clock, random: seededRandom(1) });
    let begun = 0;
    const send = async (lease: Lease) => {
      const answer = await provider.submitOrThrow(REQUEST);
      lease.observe({ ...answer, status: 200 });
      begun += 1;
      await new Promise<void>((done) => clock.setTimer(done, 50_000));
    };
    const sendOn = async () => {
      for (;;) await limiter.use(send).catch(() => {});
    };
    for (let n = 0; n < 500; n += 1) void sendOn();
    await clock.advanceAsync(15 * 60_000);
    expect(begun).toBeGreaterThan(0.97 * 15 * 200);
  });

  it.each([
    ['a failed Response', refused(3)],
    ['the body of an error', { error: { type: 'rate_limit_error', status: 429, retry_after: 3 } }],
  ])('has the lease release %s as failed', async (_, answer) => {
    const { ended, mode } = await afterObserving(answer);
    expect(ended).toMatchObject({ ok: 0, failed: 1 });
    expect(mode).toBe('throttled');
  });

  it('has a failed Response close the gates for the wait that it names', async () => {
    const { limiter } = rig();
    await limiter.use((lease) => lease.observe(refused(3)));
    expect(limiter.snapshot()).toMatchObject({
      backoff: { state: 'closed', closedForMs: 3_000 },
      ended: { ok: 0, failed: 1 },
    });
  });

  it.each([
    ['a body without an error', { message: 'boom' }],
    ['a body with an unknown error', { error: { message: 'boom' } }],
    ['the headers', new Headers()],
  ])('keeps a failed Response if %s is observed after it', async (_, after) => {
    const { limiter } = rig();
    await limiter.use((lease) => {
      lease.observe(new Response('', { status: 500 }));
      lease.observe(after);
    });
    expect(limiter.snapshot().ended).toMatchObject({ ok: 0, failed: 1 });
  });

  it('keeps the wait of a failed Response whose body is observed too', async () => {
    const { limiter } = rig();
    await limiter.use((lease) => {
      lease.observe(refused(3));
      lease.observe({ error: { code: 'rate_limit_exceeded' } });
    });
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'closed', closedForMs: 3_000 });
  });

  it('has the body say why a Response failed', async () => {
    const seen: unknown[] = [];
    const { limiter } = rig({ classify: (error) => void seen.push(error) });
    const error = { code: 'insufficient_quota' };
    await limiter.use((lease) => {
      lease.observe(new Response('', { status: 429 }));
      lease.observe({ error });
    });
    expect(seen.at(-1)).toMatchObject({ status: 429, error: { error } });
    expect(limiter.snapshot().backoff.suspended?.reason).toBe('quota');
  });

  it.each([
    ['a good one', new Response('{}'), { ok: 1 }],
    ['a result', { choices: [] }, { ok: 1 }],
    ['a refusal', { status: 404, headers: {} }, { failed: 1 }],
  ])('forgets a failed Response after %s', async (_, answer, ended) => {
    const { limiter } = rig();
    await limiter.use((lease) => {
      lease.observe(refused(3));
      lease.observe(answer);
    });
    expect(limiter.snapshot().ended).toMatchObject(ended);
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'open' });
  });

  it('passes a failed Response to `release` as the error', async () => {
    const { limiter } = rig();
    const lease = await limiter.acquire();
    lease.observe(refused(3));
    lease.release('failed');
    expect(limiter.snapshot().backoff.closedForMs).toBe(3_000);
  });

  it.each([
    ['a later answer that is good', new Response('yes')],
    ['a field `error` that is no error', { error: 'none', data: 1 }],
  ])('releases the lease as ok after %s', async (_, answer) => {
    const { limiter } = rig();
    const lease = await limiter.acquire();
    lease.observe(refused(3));
    lease.observe(answer);
    lease.release();
    expect(limiter.snapshot()).toMatchObject({ ended: { ok: 1 }, mode: 'normal' });
  });

  it('leaves the outcome to the user who names one, and to `classify`', async () => {
    const { limiter } = rig();
    const lease = await limiter.acquire();
    lease.observe(refused(3));
    lease.release('ok');
    expect(limiter.snapshot()).toMatchObject({ ended: { ok: 1 }, mode: 'normal' });
    const { ended } = await afterObserving(refused(3), { classify: () => ({ kind: 'ok' }) });
    expect(ended).toMatchObject({ ok: 1 });
  });

  it('reads the used tokens, unless they were recorded', async () => {
    const tokens = { limit: 1_000, windowMs: 60_000, charge: 'settle' } as const;
    const { limiter } = rig({ limits: { tokens } });
    const usage = { usage: { input_tokens: 100, output_tokens: 50 } };
    const [one, two] = [await limiter.acquire(), await limiter.acquire()];
    one.observe(usage);
    expect(one.tokensReported).toBe(150);
    one.release();
    two.recordTokens(7);
    two.observe(usage);
    two.release();
    expect(limiter.snapshot().tokensUsed).toBe(157);
  });

  it('has no effect after the release', async () => {
    const { limiter } = rig();
    const lease = await limiter.acquire();
    lease.release();
    lease.observe(refused(3));
    expect(lease.observe({ usage: { total_tokens: 5 } })).toBeDefined();
    expect(lease.tokensReported).toBeUndefined();
    expect(limiter.snapshot()).toMatchObject({ ended: { ok: 1 }, mode: 'normal' });
  });
});
