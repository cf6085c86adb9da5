import { describe, expect, it } from 'vitest';
import {
  CostAboveLimitError,
  createLimiterGroup,
  type Limiter,
  type LimiterOptions,
  UnknownLimitError,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig, script } from '../../limiter/rig.ts';
import { ApiError, tooMany } from '../../request/harness.ts';

const perSecond = (limit: number) => ({ limit, windowMs: 1_000 });

describe('limits that are added and removed while requests wait', () => {
  it('charges requests sent from then on to a new limit', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const { started, run, end } = script(limiter);
    for (const name of ['a', 'b', 'c']) run(name);
    limiter.configure({ limits: { requests: perSecond(1) } });
    end('a');
    await clock.advanceAsync(0);
    end('b');
    await clock.advanceAsync(999);
    expect(started).toEqual(['a', 'b']);
    expect(limiter.snapshot()).toMatchObject({
      binding: 'rateLimit',
      rateLimit: { requests: { used: 1, limit: 1 } },
    });
    await clock.advanceAsync(1);
    expect(started).toEqual(['a', 'b', 'c']);
    end('c');
    await clock.advanceAsync(1_000);
    expectIdle(limiter);
  });

  it('charges costs by the name of the first limit that is added', async () => {
    const { limiter } = rig();
    limiter.configure({ limits: { credits: perSecond(10) } });
    await limiter.run(async () => {}, { costs: { credits: 4 } });
    expect(limiter.snapshot().rateLimit?.credits?.used).toBe(4);
    const refused = limiter.run(async () => {}, { costs: { credits: 11 } });
    await expect(refused).rejects.toThrow(CostAboveLimitError);
  });

  it('lets the adaptive rate know the first limits that are added', async () => {
    const limits = { requests: perSecond(10) };
    const learned = async (
      options: LimiterOptions,
      changes: Parameters<Limiter['configure']>[0],
    ) => {
      const { clock, limiter } = rig({ concurrency: 16, ...options });
      limiter.configure(changes);
      let sent = 0;
      const send = async () => {
        sent += 1;
        if (sent % 25 === 0) throw tooMany();
      };
      const calls = Promise.all(Array.from({ length: 100 }, () => limiter.run(send)));
      await clock.advanceToAsync(8_000);
      const { adaptive } = limiter.snapshot();
      await clock.advanceToAsync(60_000);
      await calls;
      return adaptive;
    };
    const later = await learned({}, { limits });
    expect(later).toEqual(await learned({ limits }, {}));
    expect(later).not.toEqual(await learned({ limits: { requests: perSecond(20) } }, {}));
  });

  it('refuses new requests above a lowered limit at once, also such as wait already', async () => {
    const { clock, limiter } = rig({ concurrency: 1, tokensPerMinute: 100 });
    const { run } = script(limiter);
    run('a');
    const waiting = run('b', { tokens: 50 });
    limiter.configure({ tokensPerMinute: 10 });
    const newcomer = run('c', { tokens: 50 });
    await clock.advanceAsync(0);
    expect(newcomer.error).toBeInstanceOf(CostAboveLimitError);
    expect(waiting.state).toBe('open');
  });

  it('admits requests at once that waited only for a removed limit', async () => {
    const { clock, limiter } = rig({ requestsPerMinute: 1, tokensPerMinute: 1_000 });
    const { started, run } = script(limiter);
    run('a');
    run('b', { costs: { requests: 1 } });
    run('c', { tokens: 10 });
    limiter.configure({ requestsPerMinute: null });
    expect(started).toEqual(['a', 'b', 'c']);
    expect(limiter.snapshot().rateLimit).toMatchObject({ tokens: { used: 10 } });
    limiter.configure({ tokensPerMinute: null });
    expect(limiter.snapshot().rateLimit).toEqual({});
    await clock.advanceAsync(0);
  });

  it('charges a waiting request once, to the limits at the time of sending', async () => {
    const { clock, limiter } = rig({ limits: { credits: perSecond(4) } });
    const { started, run } = script(limiter);
    run('a', { costs: { credits: 4 } });
    run('b', { costs: { credits: 3 } });
    run('c', { costs: { credits: 3 } });
    limiter.configure({ limits: { credits: null, requests: perSecond(1) } });
    expect(started).toEqual(['a', 'b']);
    await clock.advanceAsync(1_000);
    expect(started).toEqual(['a', 'b', 'c']);
    expect(limiter.snapshot().rateLimit).toEqual({
      requests: { limit: 1, used: 1, available: 0, resetMs: 1_000 },
    });
    await expect(limiter.run(() => 1, { costs: { credit: 1 } })).rejects.toBeInstanceOf(
      UnknownLimitError,
    );
  });

  it('settles tokens of a limit that was added before the request was sent', async () => {
    const { limiter } = rig();
    limiter.configure({ tokensPerMinute: 100 });
    const lease = await limiter.acquire({ tokens: 80 });
    lease.recordTokens(30);
    lease.release();
    expect(limiter.snapshot().rateLimit?.tokens?.used).toBe(30);
  });

  it('adds limits to one key of a group, besides the shared ones', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((key: string) => key, {
      clock,
      shared: { limits: { requests: perSecond(2) } },
    });
    const held = await group.acquire('a');
    group.get('a').configure({ limits: { requests: perSecond(1) } });
    const [a1, a2] = [fate(group.acquire('a')), fate(group.acquire('a'))];
    const b = fate(group.acquire('b'));
    await clock.advanceAsync(999);
    expect([a1.state, a2.state, b.state]).toEqual(['ok', 'open', 'open']);
    await clock.advanceAsync(1);
    expect([a2.state, b.state]).toEqual(['ok', 'ok']);
    for (const lease of [held, a1.value, a2.value, b.value]) lease?.release();
    expect(group.snapshot().shared?.rateLimit?.requests?.used).toBe(2);
  });
});

describe('adaptive that is changed while requests wait', () => {
  it('from a rate to failures keeps waits, and forgets the learned rate', async () => {
    const { clock, limiter } = rig({ concurrency: 8 });
    const first = fate(
      limiter.run(({ attempt }) => {
        if (attempt === 1) throw tooMany();
        return 'sent again';
      }),
    );
    await clock.advanceAsync(1);
    const waiting = [1, 2, 3].map((n) => fate(limiter.run(() => n)));
    expect(limiter.snapshot()).toMatchObject({ binding: 'pace', waiting: 4 });
    limiter.configure({ adaptive: { strategy: 'failures', failureThreshold: 2 } });
    await clock.advanceAsync(0);
    expect(waiting.map(({ value }) => value)).toEqual([1, 2, 3]);
    expect(first.value).toBe('sent again');
    const events = listen(limiter);
    for (const _ of [1, 2]) (await limiter.acquire()).release('failed', new ApiError(500));
    expect(events).toMatchObject([
      { kind: 'decelerated', from: 8, to: 4 },
      { kind: 'coolingStarted' },
    ]);
    expect(limiter.snapshot().concurrency.limit).toBe(4);
    limiter.configure({ adaptive: false });
    expect(limiter.snapshot()).toMatchObject({ adaptive: undefined, concurrency: { limit: 8 } });
  });

  it('ignores requests in flight for the new strategy, and counts them once', async () => {
    const adaptive = { strategy: 'failures', failureThreshold: 1 } as const;
    const { clock, limiter } = rig({ concurrency: 4, adaptive, pace: { intervalMs: 0 } });
    const events = listen(limiter);
    const leases = [await limiter.acquire(), await limiter.acquire()];
    limiter.configure({ adaptive });
    leases[0]?.release('failed', new ApiError(500));
    expect(events).toEqual([]);
    expect(limiter.snapshot()).toMatchObject({ concurrency: { limit: 4, inFlight: 1 } });
    leases[1]?.release();
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('handles 429s by fixed rules while nothing adapts, and by the rate again afterwards', async () => {
    const { clock, limiter } = rig();
    limiter.configure({ adaptive: false });
    (await limiter.acquire()).release('failed', tooMany(100));
    expect(limiter.feedback.mode).toBe('throttled');
    await clock.advanceAsync(10_099);
    expect(limiter.feedback.mode).toBe('throttled');
    const lease = await limiter.acquire();
    expect(limiter.snapshot()).toMatchObject({ concurrency: { throttledInFlight: 1 } });
    lease.release();
    await clock.advanceAsync(1);
    expect(limiter.feedback.mode).toBe('normal');
    limiter.configure({ adaptive: 'rate' });
    (await limiter.acquire()).release('failed', tooMany(100));
    expect(limiter.tryAcquire()).toBeUndefined();
    expect(limiter.snapshot()).toMatchObject({ concurrency: { throttledInFlight: 0 } });
  });

  it('may be changed in a listener of a decision', async () => {
    const { clock, limiter } = rig({ limits: { requests: perSecond(1) }, concurrency: 4 });
    const { started, run } = script(limiter);
    limiter.events$.subscribe(({ kind }) => {
      if (kind === 'limitDenied') {
        limiter.configure({ adaptive: 'failures', limits: { requests: null } });
      }
    });
    for (const name of ['a', 'b', 'c']) run(name);
    await clock.advanceAsync(0);
    expect(started).toEqual(['a', 'b', 'c']);
    expect(limiter.snapshot()).toMatchObject({ concurrency: { inFlight: 3 }, waiting: 0 });
  });
});

describe('a quota', () => {
  const quota = (limit: number, more = {}) => ({
    limits: { credits: { limit, windowMs: Number.POSITIVE_INFINITY, ...more } },
  });
  const costs = (credits: number) => ({ costs: { credits } });

  it('holds requests back until `add`, without a timer', async () => {
    const { clock, limiter } = rig({ ...quota(5), attemptTimeoutMs: Infinity });
    const { started, run } = script(limiter);
    run('a', costs(4));
    run('b', costs(2));
    run('c', costs(1));
    await clock.advanceAsync(1e9);
    expect(clock.pendingTimers).toBe(0);
    expect(started).toEqual(['a']);
    expect(limiter.snapshot()).toMatchObject({
      binding: 'rateLimit',
      waiting: 2,
      rateLimit: { credits: { used: 4, available: 1, resetMs: Number.POSITIVE_INFINITY } },
    });
    limiter.add('credits', 1);
    expect(started).toEqual(['a', 'b']);
    limiter.add('credits', 10);
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it("fails at once with onLimit 'fail', and `add` throws for other limits", async () => {
    const { limiter } = rig({ ...quota(5, { initial: 1 }), onLimit: 'fail', requestsPerMinute: 9 });
    await expect(limiter.run(() => 1, costs(2))).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterMs: Number.POSITIVE_INFINITY,
    });
    await expect(limiter.run(() => 1, costs(6))).rejects.toMatchObject({
      code: 'COST_ABOVE_LIMIT',
    });
    expect(limiter.tryAcquire(costs(2))).toBeUndefined();
    expect(() => limiter.add('requests', 5)).toThrow(
      '`limits.requests` must have `windowMs` Infinity to be added to, got 60000',
    );
    expect(() => limiter.add('credit', 5)).toThrow('no limit is named "credit"');
    expect(() => limiter.add('credits', -1)).toThrow('`amount` must be a finite number >= 0');
    expect(() => rig().limiter.add('credits', 1)).toThrow('no limit is named "credits"');
  });

  it('may be shared by the keys of a group', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((key: string) => key, { clock, shared: quota(2) });
    const leases = [fate(group.acquire('a', costs(2))), fate(group.acquire('b', costs(2)))];
    await clock.advanceAsync(1e6);
    expect(leases.map(({ state }) => state)).toEqual(['ok', 'open']);
    group.add('credits', 2);
    await clock.advanceAsync(0);
    expect(leases.map(({ state }) => state)).toEqual(['ok', 'ok']);
  });
});
