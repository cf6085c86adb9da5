import { from, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, dispatch, FeedbackSubject, throttle } from '../../../src/index.ts';
import { isAtRest } from '../../../src/limiter/key-limiters.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig } from '../../limiter/rig.ts';
import { ApiError, watch } from '../../request/harness.ts';

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const reset = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
/** As Node's fetch wraps it. */
const fetchFailed = () => new TypeError('fetch failed', { cause: refused() });

const codeOf = (error: unknown) => (error as { readonly code?: string } | undefined)?.code;

/**
 * A server that answers after 100 ms, and is gone between two times: it resets what it is working
 * on.
 */
function server(clock: ManualClock, downAt: number, upAt: number, error: () => Error = refused) {
  const stats = { calls: 0, down: 0, inFlight: 0, mostWhenDown: 0 };
  const isDown = () => clock.now() >= downAt && clock.now() < upAt;
  const wait = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  const send = async <T>(value: T): Promise<T> => {
    stats.calls += 1;
    if (isDown()) {
      stats.down += 1;
      throw error();
    }
    await wait(100);
    if (isDown()) throw reset();
    return value;
  };
  return { stats, send };
}

describe('a server that is down for a while', () => {
  it.each([
    ['refuses', refused],
    ['resets', reset],
    ['has no address', () => Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })],
    ["is Node's `fetch failed`", fetchFailed],
  ])('loses no request of a stream: it %s', async (_, error) => {
    const clock = new ManualClock();
    const { stats, send } = server(clock, 250, 3_250, error);
    const options = { clock, concurrency: 10, outcomes: true, maxAttempts: 2 } as const;
    const seen = watch(range(0, 200).pipe(throttle(send, options)));
    await clock.runAllAsync();
    expect(seen.values.filter(({ status }) => status === 'ok')).toHaveLength(200);
    // Ten were in flight as it went down; then single probes, at 0.5, 1.5 and 3.5 s.
    expect(stats.down).toBeLessThanOrEqual(6);
    expect(clock.now()).toBeLessThan(10_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is reported in events, mode and snapshot', async () => {
    const { clock, limiter } = rig({ concurrency: 9 });
    const events = listen(limiter);
    const { send } = server(clock, 0, 20_000);
    const fates = Array.from({ length: 8 }, (_, n) => fate(limiter.run(() => send(n))));
    await clock.advanceAsync(5_000);
    expect(limiter.snapshot()).toMatchObject({
      mode: 'outage',
      binding: 'backoff',
      waiting: 8,
      outage: { sinceMs: 5_000, leftMs: 595_000, failedProbes: 3 },
    });
    expect(limiter.feedback.mode).toBe('outage');
    await clock.runAllAsync();
    expect(fates.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(limiter.snapshot()).toMatchObject({ mode: 'normal', outage: undefined });
    expect(events.filter(({ kind }) => /outage|mode/.test(kind))).toMatchObject([
      { kind: 'outageStarted', at: 0, level: 'warn', reason: 'unreachable' },
      { kind: 'modeChanged', at: 0, mode: 'outage' },
      { kind: 'outageEnded', at: 23_600, reason: 'unreachable' },
      { kind: 'modeChanged', mode: 'normal' },
    ]);
    expectIdle(limiter);
  });

  it('loses no request that is refused while it still answers earlier ones', async () => {
    const clock = new ManualClock();
    let calls = 0;
    /** It takes no new connections from 50 ms on, and answers the old ones for two seconds. */
    const send = async (n: number): Promise<number> => {
      calls += 1;
      if (clock.now() >= 50 && clock.now() < 3_000) throw refused();
      await new Promise<void>((resolve) => clock.setTimer(resolve, n < 20 ? 60 + n * 100 : 10));
      return n;
    };
    const seen = watch(
      range(0, 60).pipe(
        throttle(send, { clock, concurrency: 20, adaptive: false, outcomes: true }),
      ),
    );
    await clock.runAllAsync();
    expect(seen.values.filter(({ status }) => status === 'ok')).toHaveLength(60);
    expect(calls).toBeLessThan(70);
  });

  it('is not assumed when single connections break by chance', async () => {
    const { clock, limiter } = rig({ concurrency: 50, adaptive: false, random: () => 0.5 });
    const events = listen(limiter);
    const fates = range(0, 500);
    let calls = 0;
    const send = async (n: number): Promise<number> => {
      calls += 1;
      const isBroken = calls % 20 === 0;
      await new Promise<void>((resolve) => clock.setTimer(resolve, 100 + (calls % 7)));
      if (isBroken) throw reset();
      return n;
    };
    const seen = watch(fates.pipe(limiter.throttle(send, { outcomes: true })));
    await clock.runAllAsync();
    expect(events.filter(({ kind }) => kind.startsWith('outage'))).toEqual([]);
    expect(seen.values).toHaveLength(500);
  });

  it('is not assumed for a request whose own connection breaks each time: it fails', async () => {
    const { clock, limiter } = rig({ concurrency: 4, random: () => 0.5 });
    let calls = 0;
    const poison = fate(
      limiter.run(async () => {
        calls += 1;
        throw reset();
      }),
    );
    const others = watch(
      range(0, 100).pipe(
        limiter.throttle(async (n: number) => {
          await new Promise<void>((resolve) => clock.setTimer(resolve, 50));
          return n;
        }),
      ),
    );
    await clock.runAllAsync();
    expect([calls, codeOf(poison.error)]).toEqual([3, 'ECONNRESET']);
    expect(others.values).toHaveLength(100);
  });
});

describe('a server that stays away', () => {
  it('is tried with single probes for `outageMs`, and waiting requests fail only then', async () => {
    const clock = new ManualClock();
    const { stats, send } = server(clock, 0, Number.POSITIVE_INFINITY);
    const options = { clock, concurrency: 5, outcomes: true, outageMs: 60_000 } as const;
    const seen = watch(range(0, 100).pipe(throttle(send, options)));
    await clock.advanceAsync(59_999);
    expect(seen.values).toEqual([]);
    // Five at once, then at 0.5, 1.5, 3.5, 7.5, and every 8 s.
    expect(stats.calls).toBe(5 + 4 + 6);
    await clock.advanceAsync(1);
    expect(seen.state).toBe('complete');
    for (const outcome of seen.values) {
      expect(outcome).toMatchObject({
        error: { code: 'PROVIDER_UNREACHABLE', outageMs: 60_000, cause: { code: 'ECONNREFUSED' } },
      });
    }
    expect(seen.values).toHaveLength(100);
    expect(clock.pendingTimers).toBe(0);
  });

  it('reports how many requests failed, and waits as long for later ones', async () => {
    const { clock, limiter } = rig({ concurrency: 1, outageMs: 10_000 });
    const events = listen(limiter);
    const { stats, send } = server(clock, 0, 25_000);
    const early = [1, 2, 3].map((n) => fate(limiter.run(() => send(n))));
    await clock.advanceAsync(12_000);
    expect(early.map(({ error }) => codeOf(error))).toEqual(Array(3).fill('PROVIDER_UNREACHABLE'));
    expect(events.filter(({ kind }) => kind === 'suspended')).toMatchObject([
      { reason: 'unreachable', onLongWait: 'fail', requests: 3 },
    ]);
    const late = fate(limiter.run(() => send(4)));
    await clock.advanceAsync(7_000);
    expect(late.state).toBe('open');
    const before = stats.calls;
    await clock.advanceAsync(1_000);
    expect(stats.calls - before).toBeLessThanOrEqual(1);
    limiter.close();
    await clock.runAllAsync();
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('fails waiting requests while its probe hangs, and the probe at its end', async () => {
    const { clock, limiter } = rig({ concurrency: 2, outageMs: 10_000 });
    let calls = 0;
    const send = async (): Promise<number> => {
      calls += 1;
      if (calls > 3) await new Promise<void>((resolve) => clock.setTimer(resolve, 60_000));
      throw refused();
    };
    const fates = [1, 2, 3].map(() => fate(limiter.run(send)));
    await clock.advanceAsync(11_000);
    expect(fates.map(({ error }) => codeOf(error)).toSorted()).toEqual([
      'PROVIDER_UNREACHABLE',
      'PROVIDER_UNREACHABLE',
      undefined,
    ]);
    await clock.advanceAsync(60_000);
    expect(calls).toBe(4);
    for (const { error } of fates) expect(codeOf(error)).toBe('PROVIDER_UNREACHABLE');
  });

  it('does not fail a request sent before that is answered with an error later', async () => {
    const { clock, limiter } = rig({ concurrency: 2, outageMs: 10_000 });
    let calls = 0;
    const early = fate(
      limiter.run(async () => {
        calls += 1;
        if (calls > 1) return 'sent again';
        await new Promise<void>((resolve) => clock.setTimer(resolve, 20_000));
        throw new ApiError(500);
      }),
    );
    const late = fate(limiter.run(() => Promise.reject(refused())));
    await clock.advanceAsync(15_000);
    expect(codeOf(late.error)).toBe('PROVIDER_UNREACHABLE');
    await clock.advanceAsync(10_000);
    expect(early.value).toBe('sent again');
  });

  it('fails waiting requests if connections hang, without a probe at that time', async () => {
    const { clock, limiter } = rig({ concurrency: 1, outageMs: 60_000 });
    const send = async (): Promise<number> => {
      await new Promise<void>((resolve) => clock.setTimer(resolve, 20_000));
      throw Object.assign(new Error('no connection'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
    };
    const fates = [1, 2, 3].map(() => fate(limiter.run(send)));
    await clock.advanceAsync(200_000);
    expect(fates.map(({ error }) => codeOf(error))).toEqual(Array(3).fill('PROVIDER_UNREACHABLE'));
  });

  it('is waited for without bound with Infinity, and with 0 for nothing', async () => {
    const patient = rig({ outageMs: Number.POSITIVE_INFINITY });
    const { send } = server(patient.clock, 0, 3_500_000);
    const fates = [1, 2, 3, 4].map((n) => fate(patient.limiter.run(() => send(n))));
    await patient.clock.advanceAsync(3_600_000);
    expect(fates.map(({ value }) => value)).toEqual([1, 2, 3, 4]);
    const hasty = rig({ outageMs: 0 });
    const failing = [1, 2, 3, 4].map(() =>
      fate(hasty.limiter.run(() => Promise.reject(refused()))),
    );
    await hasty.clock.advanceAsync(1_000);
    expect(failing.map(({ error }) => codeOf(error))).toEqual(
      Array(4).fill('PROVIDER_UNREACHABLE'),
    );
  });

  it('is tried again after a pause that was longer than `outageMs`', async () => {
    const { clock, limiter } = rig({ concurrency: 1, outageMs: 10_000 });
    const { send } = server(clock, 0, 60_000);
    const fates = [1, 2].map((n) => fate(limiter.run(() => send(n))));
    await clock.advanceAsync(2_000);
    limiter.pause();
    await clock.advanceAsync(100_000);
    expect(fates.map(({ state }) => state)).toEqual(['open', 'open']);
    limiter.resume();
    await clock.advanceAsync(1_000);
    expect(fates.map(({ value }) => value)).toEqual([1, 2]);
  });
});

describe('during an outage', () => {
  /** Out, with four calls that wait; the server is back after 5 s. */
  async function out() {
    const made = rig({ concurrency: 4, maxAttempts: 3 });
    const { stats, send } = server(made.clock, 0, 5_000);
    const controller = new AbortController();
    const { signal } = controller;
    const fates = [1, 2, 3, 4].map((n) =>
      fate(made.limiter.run(() => send(n), n === 1 ? { signal } : {})),
    );
    await made.clock.advanceAsync(100);
    return { ...made, stats, fates, controller, send };
  }

  it('an aborted call leaves, and another one probes', async () => {
    const { clock, fates, controller, stats } = await out();
    controller.abort('gone');
    await clock.runAllAsync();
    expect(fates.map(({ error, value }) => error ?? value)).toEqual(['gone', 2, 3, 4]);
    expect(stats.down).toBe(4 + 3);
  });

  it('a probe that is aborted in flight makes room for the next', async () => {
    const { clock, limiter } = rig({ concurrency: 4 });
    let calls = 0;
    let hanging = -1;
    const controllers = [0, 1, 2].map(() => new AbortController());
    const fates = controllers.map(({ signal }, n) =>
      fate(
        limiter.run(
          () => {
            calls += 1;
            if (calls <= 3) return Promise.reject(refused());
            if (calls > 4) return n;
            hanging = n;
            return new Promise<number>(() => {});
          },
          { signal },
        ),
      ),
    );
    await clock.advanceAsync(5_000);
    expect([calls, fates.map(({ state }) => state)]).toEqual([4, ['open', 'open', 'open']]);
    controllers[hanging]?.abort('late');
    await clock.advanceAsync(0);
    const results = fates.map(({ error, value }) => error ?? value);
    expect(results).toEqual([0, 1, 2].with(hanging, 'late' as never));
  });

  it('a silent probe holds the others for ten seconds, not for ten minutes', async () => {
    const { clock, limiter } = rig({ concurrency: 4 });
    let calls = 0;
    const call = (n: number) => () => {
      calls += 1;
      if (calls <= 3) return Promise.reject(refused());
      // Its connection is lost, and nobody tells.
      return calls === 4 ? new Promise<number>(() => {}) : Promise.resolve(n);
    };
    const fates = [0, 1, 2].map((n) => fate(limiter.run(call(n))));
    await clock.advanceAsync(500);
    expect(calls).toBe(4);
    await clock.advanceAsync(9_999);
    expect(calls).toBe(4);
    await clock.advanceAsync(1);
    expect(fates.filter(({ state }) => state === 'open')).toHaveLength(1);
    expect(limiter.snapshot().mode).toBe('normal');
  });

  it('a limiter that shares the feedback goes on as soon as the probe of another is answered', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    const one = createLimiter({ clock, feedback, random: () => 0 });
    const other = createLimiter({ clock, feedback, random: () => 0 });
    const { send } = server(clock, 0, 400);
    const fates = [1, 2, 3].map((n) => fate(one.run(() => send(n))));
    await clock.advanceAsync(550);
    // The probe is in flight.
    const late = fate(other.run(() => send(4)));
    expect(other.snapshot().waiting).toBe(1);
    await clock.advanceAsync(50);
    expect(fates.filter(({ state }) => state === 'open')).toHaveLength(2);
    expect(other.snapshot().waiting).toBe(0);
    await clock.advanceAsync(100);
    expect([late.value, ...fates.map(({ value }) => value)]).toEqual([4, 1, 2, 3]);
  });

  it('`clear` ends the waits, and `close` lets them go on', async () => {
    const cleared = await out();
    cleared.limiter.clear('enough');
    await cleared.clock.advanceAsync(0);
    expect(cleared.fates.map(({ error }) => codeOf(error))).toEqual(Array(4).fill('QUEUE_CLEARED'));
    const closed = await out();
    closed.limiter.close();
    await closed.clock.runAllAsync();
    expect(closed.fates.map(({ value }) => value)).toEqual([1, 2, 3, 4]);
    expect(closed.limiter.snapshot().state).toBe('closed');
  });

  it('the deadline of a request still ends it', async () => {
    const { clock, limiter } = rig({ deadlineMs: 3_000 });
    const fates = [1, 2, 3].map(() => fate(limiter.run(() => Promise.reject(refused()))));
    await clock.advanceAsync(3_000);
    for (const { error } of fates) {
      expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED', where: 'backoff' });
      expect(codeOf((error as Error).cause)).toBe('ECONNREFUSED');
    }
    expect(clock.pendingTimers).toBe(0);
  });

  it('an answer of any kind ends it: here a 500', async () => {
    const { clock, limiter } = rig();
    const events = listen(limiter);
    const fates = [1, 2, 3].map((n) =>
      fate(
        limiter.run(() => Promise.reject(clock.now() < 400 ? refused() : new ApiError(400 + n))),
      ),
    );
    await clock.advanceAsync(500);
    expect(events.some(({ kind }) => kind === 'outageEnded')).toBe(true);
    expect(fates.every(({ error }) => error instanceof ApiError)).toBe(true);
  });

  it('an error of the project itself does not count for the provider', async () => {
    const { clock, limiter } = rig();
    for (let n = 0; n < 3; n += 1) fate(limiter.run(() => Promise.reject(refused())));
    await clock.advanceAsync(100);
    limiter.feedback.next({ kind: 'failed' });
    expect(limiter.snapshot().mode).toBe('outage');
    limiter.feedback.next({ kind: 'failed', status: 500 });
    expect(limiter.snapshot().mode).toBe('normal');
    await clock.advanceAsync(0);
    limiter.clear();
  });

  it('with `maxAttempts: 1` a probe fails with its own error, and the others probe one by one', async () => {
    const clock = new ManualClock();
    const { stats, send } = server(clock, 0, 60_000);
    const options = { clock, concurrency: 3, maxAttempts: 1, outcomes: true } as const;
    const seen = watch(range(0, 100).pipe(throttle(send, options)));
    await clock.advanceAsync(10_000);
    expect(seen.values).toHaveLength(stats.calls);
    expect(stats.calls).toBeLessThan(10);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });

  it('retries of `dispatch` wait for it as well', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    const { stats, send } = server(clock, 0, 5_000);
    const seen = watch(
      from([1, 2, 3, 4]).pipe(dispatch(send, { feedback, clock, random: () => 0 })),
    );
    await clock.runAllAsync();
    expect(seen.values.toSorted()).toEqual([1, 2, 3, 4]);
    expect(stats.down).toBeLessThan(12);
  });

  it('a limiter of a group is kept during its outage', async () => {
    const limiter = createLimiter({ clock: new ManualClock() });
    for (let n = 0; n < 3; n += 1) limiter.feedback.next({ kind: 'failed', connection: 'refused' });
    expect(isAtRest(limiter.inside)).toBe(false);
    limiter.feedback.next({ kind: 'ok' });
    expect(isAtRest(limiter.inside)).toBe(true);
  });
});

describe('requests that always break their connection, at a server that answers all others', () => {
  /** Breaks the connection of requests below 4, and answers the others after 20 ms. */
  const sender = (clock: ManualClock) => async (n: number) => {
    await new Promise<void>((done) => clock.setTimer(done, 20));
    if (n < 4) throw reset();
    return n;
  };

  it.each([1, 2, 4, 400])('hold no other request back, with %i slots', async (concurrency) => {
    const clock = new ManualClock();
    const options = { clock, concurrency, outcomes: true } as const;
    const seen = watch(range(0, 100).pipe(throttle(sender(clock), options)));
    await clock.advanceAsync(60_000);
    const done = seen.values.filter(({ status }) => status === 'ok').map(({ request }) => request);
    expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 96 }, (_, n) => n + 4));
    await clock.advanceAsync(1_200_000);
    expect(seen.values).toHaveLength(100);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keep their places for calls, and give back what they held', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 2, maxBytes: 10 });
    const send = sender(clock);
    const fates = Array.from({ length: 20 }, (_, n) =>
      fate(limiter.run(() => send(n), { bytes: 5, id: n, timeoutMs: 3_600_000 })),
    );
    await clock.advanceAsync(2_000);
    for (let n = 0; n < 20; n += 1) limiter.setPriority(n, n % 3);
    await clock.advanceAsync(60_000);
    expect(fates.slice(4).map(({ value }) => value)).toEqual(
      Array.from({ length: 16 }, (_, n) => n + 4),
    );
    await clock.advanceAsync(1_200_000);
    expect(fates.slice(0, 4).every(({ error }) => error !== undefined)).toBe(true);
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that wait again for the next probe follow a new priority', async () => {
    const probesWith = async (change: boolean) => {
      const clock = new ManualClock();
      const limiter = createLimiter({ clock, concurrency: 1, random: () => 0 });
      const sent: number[] = [];
      const send = (n: number) => async () => {
        sent.push(n);
        throw reset();
      };
      for (let n = 0; n < 5; n += 1) void fate(limiter.run(send(n), { id: n }));
      // The probes at 0.5 and 1.5 s were the requests 0 and 1.
      await clock.advanceAsync(2_000);
      if (change) limiter.setPriority(0, 5);
      await clock.advanceAsync(3_000);
      limiter.close();
      return sent.slice(-3);
    };
    expect(await probesWith(false)).toEqual([0, 1, 2]);
    expect(await probesWith(true)).toEqual([0, 1, 0]);
  });
});
