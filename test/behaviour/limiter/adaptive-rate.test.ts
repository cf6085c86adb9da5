import { from, lastValueFrom, toArray } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLimiter, FeedbackSubject, throttle } from '../../../src/index.ts';
import { createProvider, ManualClock } from '../../../src/simulator/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { failing, listen, rig, timeline } from '../../limiter/rig.ts';

afterEach(() => vi.unstubAllGlobals());

const throttled = (retryAfterMs?: number) =>
  Object.assign(new Error('too many'), {
    status: 429,
    headers: retryAfterMs === undefined ? {} : { 'retry-after-ms': String(retryAfterMs) },
  });

describe('by default', () => {
  it('16 requests are sent at once, and one more for each accepted one, until the first 429', async () => {
    const { clock, limiter } = rig({ concurrency: 64, attemptTimeoutMs: Number.POSITIVE_INFINITY });
    const sentAt: number[] = [];
    const run = () => fate(limiter.run(() => sentAt.push(clock.now())));
    for (let n = 0; n < 50; n += 1) run();
    expect(sentAt).toEqual(Array(16).fill(0));
    expect(clock.pendingTimers).toBe(0);
    await clock.advanceAsync(0);
    expect(sentAt).toEqual(Array(50).fill(0));
    expect(limiter.snapshot().adaptive).toMatchObject({ origin: 'start', limit: 64 });
    await clock.advanceAsync(5_000);
    await failing(limiter, 1, throttled());
    sentAt.length = 0;
    for (let n = 0; n < 20; n += 1) run();
    await clock.advanceAsync(99);
    expect(sentAt).toEqual([]);
    await clock.advanceAsync(2);
    // 50 at once. In the five seconds after that nothing was asked for, so they do not count.
    expect(limiter.snapshot().adaptive).toMatchObject({
      origin: 'learned',
      ceilingPerSecond: expect.closeTo(50 / 0.1, 0),
    });
    await clock.advanceAsync(1_000);
    expect(sentAt.length).toBe(20);
  });

  it.each([1, 2, 3])(
    'time without requests does not count, if %i may be in flight',
    async (concurrency) => {
      const { clock, limiter } = rig({ concurrency });
      const answer = () => new Promise<void>((done) => clock.setTimer(done, 100));
      for (let n = 0; n < 10; n += 1) fate(limiter.run(answer));
      await clock.advanceAsync(3_600_000);
      await failing(limiter, 1, throttled());
      let sent = 0;
      for (let n = 0; n < 10; n += 1) fate(limiter.run(() => (sent += 1)));
      await clock.advanceAsync(60_000);
      expect(sent).toBe(10);
    },
  );

  it('a single request is retried with growing gaps after 429s that name no wait', async () => {
    const { clock, limiter } = rig();
    const sentAt: number[] = [];
    const told = fate(
      limiter.run(() => {
        sentAt.push(clock.now());
        return sentAt.length < 3 ? Promise.reject(throttled()) : 'yes';
      }),
    );
    await clock.advanceAsync(10_000);
    expect(told.value).toBe('yes');
    expect(sentAt).toEqual([0, 100, 260]);
    expectIdle(limiter);
  });

  it('a wait of 2 s or more closes the gate for all requests, a shorter one only delays the pace', async () => {
    for (const [retryAfterMs, state] of [
      [2_000, 'closed'],
      [1_999, 'open'],
    ] as const) {
      const { clock, limiter } = rig();
      let attempts = 0;
      const sentAt: number[] = [];
      fate(
        limiter.run(() => {
          attempts += 1;
          return attempts === 1 ? Promise.reject(throttled(retryAfterMs)) : 1;
        }),
      );
      await clock.advanceAsync(10);
      expect(limiter.snapshot()).toMatchObject({ mode: 'throttled', backoff: { state } });
      fate(limiter.run(() => sentAt.push(clock.now())));
      await clock.advanceAsync(retryAfterMs - 11);
      expect([attempts, sentAt.length]).toEqual([1, 0]);
      await clock.advanceAsync(1_500);
      expect([attempts, sentAt.length]).toEqual([2, 1]);
      await clock.advanceAsync(10_000);
      expect(limiter.snapshot().mode).toBe('normal');
    }
  });

  it('two rejections in flight at once that name too long a wait correct it, and the gate opens in time', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock, reopen: 'all' });
    const { limiter } = rig({ clock, feedback });
    const other = createLimiter({ clock, feedback });
    const sentAt: number[] = [];
    let isOpen = false;
    const run = (retryAfterMs: number) =>
      fate(
        limiter.run(async () => {
          sentAt.push(clock.now());
          if (isOpen) return 'yes';
          await new Promise<void>((resolve) => clock.setTimer(resolve, 1_000));
          throw throttled(retryAfterMs);
        }),
      );
    // It opens at 10 s, and ten times the time until then is named.
    run(100_001);
    await clock.advanceAsync(300);
    run(97_001);
    await clock.advanceAsync(1_000);
    isOpen = true;
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'closed' });
    expect(limiter.snapshot().backoff.closedForMs).toBeCloseTo(9_700, -1);
    const waiting = fate(other.run(() => clock.now()));
    await clock.advanceAsync(9_600);
    expect(sentAt).toEqual([0, 300]);
    expect(waiting.value).toBeUndefined();
    await clock.advanceAsync(300);
    expect(sentAt.length).toBeGreaterThan(2);
    // Who shares the feedback need not wait for what was named either.
    expect(waiting.value).toBeCloseTo(11_000, -1);
  });

  it('a wait longer than `maxRetryAfterMs` fails waiting requests, and new ones until it is over', async () => {
    const { clock, limiter } = rig({ maxRetryAfterMs: 10_000, concurrency: 1 });
    const first = fate(limiter.run(() => Promise.reject(throttled(3_600_000))));
    const waits = fate(limiter.run(() => 1));
    await clock.advanceAsync(0);
    const next = fate(limiter.run(() => 1));
    await clock.advanceAsync(0);
    for (const { error } of [first, waits, next]) {
      expect(error).toMatchObject({ code: 'RETRY_AFTER_TOO_LONG', retryAfterMs: 3_600_000 });
    }
    await clock.advanceAsync(3_600_000);
    expect(await limiter.run(() => 1)).toBe(1);
  });
});

describe('a lowered concurrency', () => {
  it('does not stop an attempt though all requests in flight hang', async () => {
    const { clock, limiter } = rig({
      concurrency: 100,
      attemptTimeoutMs: Number.POSITIVE_INFINITY,
    });
    let attempts = 0;
    const send = () => {
      attempts += 1;
      if (attempts === 2) throw Object.assign(new Error('busy'), { status: 503 });
      return attempts === 1 ? new Promise<number>(() => {}) : 1;
    };
    fate(limiter.run(send));
    const others = Array.from({ length: 50 }, () => fate(limiter.run(send)));
    await clock.advanceAsync(60_000);
    expect(others.map(({ value }) => value)).toEqual(others.map(() => 1));
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a limiter with an adaptive rate', () => {
  /** Of each second, the first so many are let in. */
  const providerOf = (perSecond: number, clock: ManualClock) => {
    const provider = createProvider({
      clock,
      limits: [{ unit: 'requests', algorithm: 'token-bucket', limit: perSecond, windowMs: 1_000 }],
      headers: 'none',
      retryAfter: 'none',
    });
    return () => provider.submitOrThrow({ inputTokens: 10, maxTokens: 10 });
  };

  it('reports its rate in its snapshot, its events and its state', async () => {
    const { clock, limiter } = rig({ adaptive: 'rate' });
    const events = listen(limiter);
    expect(limiter.snapshot().adaptive).toEqual({
      limit: 16,
      perSecond: Number.POSITIVE_INFINITY,
      origin: 'start',
      ceilingPerSecond: undefined,
      leastPerSecond: undefined,
      mostPerSecond: undefined,
      evidence: undefined,
      rejectedByChance: 0,
      burst: 0,
      cap: undefined,
      tokens: undefined,
      isOut: false,
      sinceCutMs: undefined,
    });
    let isOut = false;
    const send = () =>
      isOut ? Promise.reject(Object.assign(new Error('out'), { status: 503 })) : 1;
    for (let n = 0; n < 30; n += 1) fate(limiter.run(send));
    await clock.advanceAsync(10_000);
    isOut = true;
    const held = [fate(limiter.run(send)), fate(limiter.run(send)), fate(limiter.run(send))];
    await clock.advanceAsync(5_000);
    expect(limiter.snapshot().adaptive).toMatchObject({ isOut: true });
    isOut = false;
    await clock.advanceAsync(20_000);
    expect(held.map(({ value }) => value)).toEqual([1, 1, 1]);
    const kinds = timeline(events).map((line) => line.split(' ')[1]);
    expect(kinds.filter((kind) => kind?.startsWith('outage'))).toEqual([
      'outageStarted',
      'outageEnded',
    ]);
    // A server that was out has told nothing of a rate.
    expect(limiter.snapshot().adaptive).toMatchObject({ origin: 'start', isOut: false });
    await failing(limiter, 1, throttled());
    fate(limiter.run(send));
    await clock.advanceAsync(5_000);
    expect(timeline(events).some((line) => line.endsWith('rateAdapted'))).toBe(true);
    expect(limiter.snapshot().adaptive).toMatchObject({ origin: 'learned', isOut: false });
  });

  it('paces run, acquire, fetch and streams alike', async () => {
    const { clock, limiter } = rig({ adaptive: 'rate' });
    await limiter.run(() => 'accepted');
    await failing(limiter, 1, throttled());
    const sentAt: string[] = [];
    const sent = (what: string) => {
      sentAt.push(`${clock.now()} ${what}`);
      return Promise.resolve(what);
    };
    vi.stubGlobal('fetch', () => sent('fetch').then(() => new Response('')));
    const ask: readonly (() => unknown)[] = [
      () => fate(limiter.run(() => sent('run'))),
      () => limiter.acquire().then((lease) => sent('lease').then(() => lease.release('ok'))),
      () => fate(limiter.fetch('http://127.0.0.1/')),
      () =>
        from([1])
          .pipe(limiter.throttle(() => sent('stream')))
          .subscribe(),
    ];
    for (const each of ask) each();
    await clock.advanceAsync(10_000);
    expect(sentAt.map((line) => line.split(' ')[1])).toEqual(['run', 'lease', 'fetch', 'stream']);
    const at = sentAt.map((line) => Number(line.split(' ')[0]));
    expect(at[0]).toBe(100);
    // The answer to the probe lets the next go: only then there is a rate to keep to.
    for (const [index, time] of at.slice(2).entries()) {
      expect(time - (at[index + 1] ?? 0)).toBeGreaterThan(45);
    }
    expectIdle(limiter);
  });

  it('is shared by two streams', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 64, adaptive: 'rate' });
    const send = providerOf(20, clock);
    const doneAt: number[] = [];
    const streams = [500, 1_000].map((count) =>
      from(Array.from({ length: count }, (_, n) => n))
        .pipe(limiter.throttle(send))
        .subscribe({ complete: () => doneAt.push(clock.now()) }),
    );
    await clock.advanceAsync(100_000);
    for (const stream of streams) stream.unsubscribe();
    // 20 a second in all, after 20 at once.
    expect(doneAt).toHaveLength(2);
    expect(doneAt[0]).toBeGreaterThan(24_000);
    expect(doneAt[0]).toBeLessThan(30_000);
    expect(doneAt[1]).toBeGreaterThan(74_000);
    expect(doneAt[1]).toBeLessThan(80_000);
    await clock.advanceAsync(0);
    expectIdle(limiter);
  });

  it('keeps results in order, and emits outcomes, while it paces', async () => {
    const clock = new ManualClock();
    const send = providerOf(10, clock);
    const values = Array.from({ length: 200 }, (_, n) => n);
    const ordered = lastValueFrom(
      from(values).pipe(
        throttle((n) => send().then(() => n), { clock, adaptive: 'rate', ordered: true }),
        toArray(),
      ),
    );
    await clock.runAllAsync();
    expect(await ordered).toEqual(values);
    const outcomes = lastValueFrom(
      from(values).pipe(
        throttle((n) => send().then(() => n), { clock, adaptive: 'rate', outcomes: true }),
        toArray(),
      ),
    );
    await clock.runAllAsync();
    expect((await outcomes).filter(({ status }) => status === 'ok')).toHaveLength(200);
  });

  it('leaves no timer when a stream is unsubscribed while it paces', async () => {
    const clock = new ManualClock();
    const send = providerOf(5, clock);
    const stream = from(Array.from({ length: 1_000 }, (_, n) => n))
      .pipe(throttle(send, { clock, adaptive: 'rate' }))
      .subscribe();
    await clock.advanceAsync(20_250);
    expect(clock.pendingTimers).toBeGreaterThan(0);
    stream.unsubscribe();
    await clock.advanceAsync(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
