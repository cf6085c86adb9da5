import { range, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  backoffGate,
  createLimiter,
  dispatch,
  FeedbackSubject,
  type LimiterOptions,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig, script } from '../../limiter/rig.ts';
import { ApiError, failingWith, tooMany, watch } from '../../request/harness.ts';

const HOUR = 3_600_000;

/** As OpenAI says that the account has used up its credit or quota. */
function insufficientQuota(headers: Record<string, string> = {}): Error {
  const error = { code: 'insufficient_quota', message: 'You exceeded your current quota' };
  return Object.assign(new Error(error.message), { status: 429, error, headers });
}

const codeOf = (error: unknown) => (error as { readonly code?: string } | undefined)?.code;

/** Both strategies decide alike. */
const STRATEGIES: readonly (readonly [string, LimiterOptions])[] = [
  ['the adaptive rate', {}],
  ['fixed rules', { adaptive: false }],
  ['fixed rules that open for all', { adaptive: false, backoff: { reopen: 'all' } }],
];

describe.each(STRATEGIES)('an answer that names a long wait, with %s', (_, strategy) => {
  it('fails all outcomes at once, with the time left, and sends nothing more', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith([tooMany(2 * HOUR)], () => clock.now());
    const options = { clock, outcomes: true, concurrency: 1, ...strategy } as const;
    const source = new Subject<number>();
    const seen = watch(source.pipe(throttle(project, options)));
    for (let n = 0; n < 1_000; n += 1) source.next(n);
    await clock.advanceAsync(0);
    expect(calls).toEqual([0]);
    expect(seen.values).toHaveLength(1_000);
    for (const outcome of seen.values) {
      expect(outcome).toMatchObject({ status: 'failed', error: { retryAfterMs: 2 * HOUR } });
      expect(outcome).toMatchObject({
        error: { code: 'RETRY_AFTER_TOO_LONG', maxRetryAfterMs: 600_000 },
      });
    }
    await clock.advanceAsync(HOUR);
    source.next(1_000);
    expect(seen.values.at(-1)).toMatchObject({ request: 1_000, error: { retryAfterMs: HOUR } });
    await clock.advanceAsync(HOUR);
    for (let n = 1_001; n < 1_004; n += 1) source.next(n);
    source.complete();
    await clock.advanceAsync(60_000);
    expect(seen.values.slice(-3).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    expect(calls.slice(0, 2)).toEqual([0, 2 * HOUR]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("makes all requests wait with `onLongWait: 'wait'`, then sends one as a probe", async () => {
    const { clock, limiter } = rig({ ...strategy, onLongWait: 'wait' });
    const events = listen(limiter);
    const calls = script(limiter);
    const first = calls.run('a');
    calls.fail('a', tooMany(2 * HOUR));
    await clock.advanceAsync(0);
    calls.run('b');
    expect(limiter.snapshot()).toMatchObject({
      waiting: 2,
      binding: 'backoff',
      suspended: { reason: 'longWait', onLongWait: 'wait', leftMs: 2 * HOUR },
    });
    await clock.advanceAsync(2 * HOUR - 1);
    expect(calls.started).toEqual(['a']);
    await clock.advanceAsync(1);
    expect(calls.started).toEqual(['a', 'a']);
    expect(limiter.snapshot().suspended).toBeUndefined();
    calls.end('a');
    await clock.advanceAsync(0);
    expect([first.value, calls.started]).toEqual(['a', ['a', 'a', 'b']]);
    expect(events.filter(({ kind }) => kind === 'suspended')).toMatchObject([
      { at: 0, level: 'warn', reason: 'longWait', onLongWait: 'wait', untilAt: 2 * HOUR },
    ]);
  });
});

describe('a used-up quota', () => {
  it.each(STRATEGIES)('costs one 429 for a whole queue, with %s', async (_, strategy) => {
    const clock = new ManualClock();
    let calls = 0;
    const project = async (): Promise<number> => {
      calls += 1;
      throw insufficientQuota();
    };
    const options = { clock, outcomes: true, concurrency: 1, ...strategy } as const;
    const source = new Subject<number>();
    const seen = watch(source.pipe(throttle(project, options)));
    for (let n = 0; n < 500; n += 1) source.next(n);
    await clock.advanceAsync(0);
    expect(calls).toBe(1);
    const codes = seen.values.map((outcome) =>
      outcome.status === 'failed' ? codeOf(outcome.error) : 'ok',
    );
    expect(codes).toEqual([undefined, ...Array(499).fill('QUOTA_EXHAUSTED')]);
    // A minute later one request tests it, for all that came meanwhile.
    await clock.advanceAsync(60_000);
    for (let n = 0; n < 50; n += 1) source.next(n);
    await clock.advanceAsync(0);
    expect([calls, seen.values.length]).toEqual([2, 550]);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['fail', 'wait'] as const)(
    'fails waiting requests, for any `onOpen`: %s',
    async (onOpen) => {
      const { clock, limiter } = rig({ concurrency: 1, circuitBreaker: { onOpen } });
      const events = listen(limiter);
      const calls = script(limiter);
      const first = calls.run('a');
      const waits = [calls.run('b'), calls.run('c')];
      const stream = watch(
        range(0, 2).pipe(limiter.throttle(async (n: number) => n, { outcomes: true })),
      );
      const error = insufficientQuota();
      calls.fail('a', error);
      await clock.advanceAsync(0);
      expect(first.error).toBe(error);
      for (const { error: reason } of waits) {
        expect(reason).toMatchObject({
          code: 'QUOTA_EXHAUSTED',
          reason: 'quota',
          retryAfterMs: 60_000,
          cause: error,
        });
      }
      expect(stream.values.map(({ status }) => status)).toEqual(['failed', 'failed']);
      expect(limiter.snapshot()).toMatchObject({
        waiting: 0,
        suspended: { reason: 'quota', onLongWait: 'fail' },
      });
      expect(events.filter(({ kind }) => kind === 'suspended')).toMatchObject([
        { reason: 'quota', onLongWait: 'fail', requests: 4, untilAt: 60_000 },
      ]);
      expectIdle(limiter);
    },
  );

  it("is waited for with `onLongWait: 'wait'` if its end is named", async () => {
    const { clock, limiter } = rig({ onLongWait: 'wait', adaptive: false });
    let calls = 0;
    const task = async () => {
      calls += 1;
      if (calls === 1) throw insufficientQuota({ 'retry-after': '7200' });
      return calls;
    };
    const results = [fate(limiter.run(task)), fate(limiter.run(() => 'other'))];
    await clock.advanceAsync(2 * HOUR - 1);
    expect([calls, results[0]?.state]).toEqual([1, 'open']);
    await clock.runAllAsync();
    expect(results.map(({ value }) => value)).toEqual([2, 'other']);
  });

  it("fails with `onLongWait: 'wait'` if its end is not named", async () => {
    const { clock, limiter } = rig({ onLongWait: 'wait', concurrency: 1 });
    const first = fate(limiter.run(() => Promise.reject(insufficientQuota())));
    const waits = fate(limiter.run(() => 1));
    await clock.advanceAsync(0);
    expect([first.state, codeOf(waits.error)]).toEqual(['failed', 'QUOTA_EXHAUSTED']);
  });

  it('is reported once, though many requests in flight get it', async () => {
    const { clock, limiter } = rig({ concurrency: 8, adaptive: false });
    const events = listen(limiter);
    const calls = script(limiter);
    const fates = ['a', 'b', 'c'].map((name) => calls.run(name));
    for (const name of ['a', 'b', 'c']) {
      calls.fail(name, insufficientQuota());
      await clock.advanceAsync(10);
    }
    expect(fates.map(({ state }) => state)).toEqual(['failed', 'failed', 'failed']);
    expect(events.filter(({ kind }) => kind === 'suspended')).toHaveLength(1);
  });

  it('makes `tryAcquire` return undefined, without an error', async () => {
    const { clock, limiter } = rig();
    const lease = await limiter.acquire();
    lease.release('failed', insufficientQuota());
    expect(limiter.tryAcquire()).toBeUndefined();
    await expect(limiter.acquire()).rejects.toMatchObject({ code: 'QUOTA_EXHAUSTED' });
    clock.advance(60_000);
    expect(limiter.tryAcquire()).toBeDefined();
  });

  it('is not assumed for a wrong key or a bad request, which fail alone', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const bad = [400, 401, 403, 404].map((status) =>
      fate(limiter.run(() => Promise.reject(new ApiError(status)))),
    );
    const good = fate(limiter.run(() => 1));
    await clock.advanceAsync(0);
    expect(bad.map(({ state }) => state)).toEqual(Array(4).fill('failed'));
    expect(good.value).toBe(1);
  });
});

describe('a suspended limiter', () => {
  /** Suspended for an hour, with a hung request in flight. */
  async function suspended(options: LimiterOptions = {}) {
    const made = rig({ concurrency: 2, maxRetryAfterMs: 1_000, ...options });
    const calls = script(made.limiter);
    const hung = calls.run('hung');
    calls.run('a');
    calls.fail('a', tooMany(HOUR));
    await made.clock.advanceAsync(0);
    return { ...made, calls, hung };
  }

  it('lets requests in flight go on, and can be closed', async () => {
    const { limiter, calls, hung, clock } = await suspended();
    limiter.close();
    calls.end('hung');
    await limiter.drain();
    expect([hung.value, limiter.snapshot().state]).toEqual(['hung', 'closed']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails new requests while it is paused too, and continues after both', async () => {
    const { limiter, clock } = await suspended();
    limiter.pause();
    const during = fate(limiter.run(() => 1));
    await clock.advanceAsync(0);
    expect(codeOf(during.error)).toBe('RETRY_AFTER_TOO_LONG');
    await clock.advanceAsync(HOUR);
    const after = fate(limiter.run(() => 2));
    await clock.advanceAsync(1);
    expect(after.state).toBe('open');
    limiter.resume();
    await clock.advanceAsync(0);
    expect(after.value).toBe(2);
  });

  it('lets an aborted call leave while all wait, and the next one is the probe', async () => {
    const { limiter, clock, calls } = await suspended({ onLongWait: 'wait' });
    const controller = new AbortController();
    const aborted = fate(limiter.run(() => 1, { signal: controller.signal }));
    controller.abort('gone');
    await clock.advanceAsync(0);
    expect(aborted.error).toBe('gone');
    await clock.advanceAsync(HOUR);
    expect(calls.started).toEqual(['hung', 'a', 'a']);
  });

  it('fails the requests of every stream that shares its feedback, at each of their gates', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    const limiter = createLimiter({ clock, feedback, concurrency: 1 });
    const held = await limiter.acquire();
    const waits = fate(limiter.run(() => 1));
    const source = new Subject<number>();
    const composed = watch(
      source.pipe(
        backoffGate({ feedback }),
        dispatch(async (n: number) => n, { feedback, outcomes: true }),
      ),
    );
    feedback.next({ kind: 'throttled', retryAfterMs: HOUR });
    source.next(0);
    await clock.advanceAsync(0);
    expect(codeOf(waits.error)).toBe('RETRY_AFTER_TOO_LONG');
    expect(composed.values).toMatchObject([{ status: 'failed', stats: { attempts: 0 } }]);
    const later = watch(range(0, 1).pipe(throttle(async (n: number) => n, { feedback })));
    expect(codeOf(later.error)).toBe('RETRY_AFTER_TOO_LONG');
    held.release();
    composed.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });
});

it('the options of long waits exclude a feedback of the user, which has its own', () => {
  const feedback = new FeedbackSubject({ onLongWait: 'wait', outageMs: 5 });
  for (const option of [{ onLongWait: 'wait' }, { outageMs: 5 }, { maxRetryAfterMs: 5 }] as const) {
    const [name] = Object.keys(option);
    expect(() => createLimiter({ feedback, ...option })).toThrow(
      `\`${name}\` and \`feedback\` exclude`,
    );
  }
  expect(() => new FeedbackSubject({ onLongWait: 'later' as never })).toThrow(
    /`onLongWait`.*"later"/,
  );
  expect(() => new FeedbackSubject({ outageMs: -1 })).toThrow(/`outageMs`.*-1/);
});

describe('a limit that is used up, with a reset in up to 20 minutes and no Retry-After', () => {
  const WINDOW = 1_200_000;

  /**
   * Statuses of 150 requests to an API that takes 100 in 20 minutes, and reports the limit of a
   * minute too.
   * @param resetMs what it reports, by when it accepted requests
   */
  async function statuses(resetMs: (acceptedAt: readonly number[], now: number) => number) {
    const clock = new ManualClock();
    const acceptedAt: number[] = [];
    const project = async (): Promise<{ readonly headers: Record<string, string> }> => {
      await new Promise<void>((done) => clock.setTimer(done, 100));
      const now = clock.now();
      const left = 100 - acceptedAt.filter((at) => now - at < WINDOW).length;
      if (left > 0) acceptedAt.push(now);
      const reset = Math.ceil(resetMs(acceptedAt, now) / 1_000);
      const headers = {
        'ratelimit-policy': '"minute";q=6000;w=60, "long";q=100;w=1200',
        ratelimit: `"minute";r=5990;t=1, "long";r=${Math.max(0, left - 1)};t=${reset}`,
      };
      if (left > 0) return { headers };
      throw Object.assign(new Error('too many'), { status: 429, headers });
    };
    const source = new Subject<number>();
    const seen = watch(source.pipe(throttle(project, { clock, outcomes: true, concurrency: 2 })));
    for (let n = 0; n < 150; n += 1) {
      source.next(n);
      await clock.advanceAsync(2_000);
    }
    await clock.advanceAsync(2 * WINDOW);
    seen.subscription.unsubscribe();
    return seen.values.map(({ status }) => status);
  }

  it('fails waiting requests if the window ends then', async () => {
    const seen = await statuses((_, now) => WINDOW - (now % WINDOW));
    expect(seen.filter((status) => status === 'failed').length).toBeGreaterThan(40);
  });

  it('holds requests back if each request moves the reset, since the window slides', async () => {
    const seen = await statuses((acceptedAt, now) => (acceptedAt.at(-1) ?? now) + WINDOW - now);
    expect(seen).toEqual(Array(150).fill('ok'));
  });
});
