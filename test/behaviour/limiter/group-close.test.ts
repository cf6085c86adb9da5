import { of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  createLimiterGroup,
  FeedbackSubject,
  type GroupEvent,
  LimiterClosedError,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectAllIdle, groupRig, listenTo } from '../../limiter/group-rig.ts';
import { fate } from '../../limiter/harness.ts';
import { ApiError, tooMany, watch } from '../../request/harness.ts';

describe('close and drain of a group', () => {
  it('send waiting requests of every key, and refuse others', async () => {
    const { clock, group, run, end, started, task } = groupRig({ shared: { concurrency: 1 } });
    const early = [run('a'), run('b')];
    group.close();
    group.close();
    const drained = fate(group.drain());
    const late = [run('a2'), run('new')];
    const seen = watch(of('a3', 'd').pipe(group.throttle(task, { outcomes: true })));
    for (const name of ['a', 'b']) {
      expect(drained.state).toBe('open');
      end(name);
      await clock.advanceAsync(0);
    }
    expect(early.map(({ value }) => value)).toEqual(['a', 'b']);
    for (const each of late) expect(each.error).toMatchObject({ name: 'LimiterClosedError' });
    expect(seen.values.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(drained.state).toBe('ok');
    expect(started).toEqual(['a', 'b']);
    expect(clock.pendingTimers).toBe(0);
    expectAllIdle(group);
  });

  it('resolve at once without requests, and wait for keys that arrive meanwhile', async () => {
    const { clock, group, run, end } = groupRig();
    await group.drain();
    run('a');
    const drained = fate(group.drain());
    run('b');
    end('a');
    await clock.advanceAsync(0);
    expect(drained.state).toBe('open');
    end('b');
    await clock.advanceAsync(0);
    expect(drained.state).toBe('ok');
  });
});

it('a closed group that drops a key ends nothing that others observe of the provider', async () => {
  const clock = new ManualClock();
  const feedback = new FeedbackSubject({ clock });
  const backoffs: number[] = [];
  const instrumentation = { backoff: (waitMs: number) => backoffs.push(waitMs) };
  const common = { clock, instrumentation, telemetry: false } as const;
  createLimiter({ ...common, feedback });
  const group = createLimiterGroup((key: string) => key, {
    ...common,
    maxKeys: 1,
    each: { feedback },
  });
  await group.run('a', async () => {});
  group.close();
  await group.drain();
  await expect(group.run('b', async () => {})).rejects.toThrow(LimiterClosedError);
  expect(group.snapshot().keys).toHaveProperty('b');
  feedback.next({ kind: 'throttled', retryAfterMs: 1_000 });
  expect(backoffs).toEqual([1_000]);
});

describe('the events and the state of a group', () => {
  it('name the key, or none for shared limits', async () => {
    const { clock, group, run, end } = groupRig({
      each: { limits: { requests: { limit: 1, windowMs: 1_000 } }, maxAttempts: 1 },
      shared: { limits: { images: { limit: 1, windowMs: 1_000 } } },
    });
    const events = listenTo(group);
    run('a1', { costs: { requests: 1, images: 1 } });
    run('a2', { costs: { requests: 1 } });
    run('b1', { costs: { images: 1 } });
    for (const name of ['a1', 'a2', 'b1']) end(name);
    await clock.advanceAsync(1_000);
    group.close();
    for (const name of ['a2', 'b1']) end(name);
    await clock.advanceAsync(0);
    expect(events.map(({ at, key, kind }) => `${at} ${key} ${kind}`)).toEqual([
      '0 a limitDenied',
      '0 a waiting',
      '0 undefined limitDenied',
      '0 b waiting',
      '1000 b waited',
      '1000 a waited',
      '1000 a closed',
      '1000 a draining',
      '1000 b closed',
      '1000 b draining',
      '1000 a drained',
      '1000 b drained',
    ]);
    expect(events.every(({ level }) => level === 'debug' || level === 'info')).toBe(true);
  });

  it('report changes of each key’s mode, while there is a subscriber', async () => {
    const { clock, group, run, fail } = groupRig({
      each: { backoff: { throttledForMs: 200 }, maxAttempts: 1 },
      idleMs: 5_000,
    });
    run('a');
    const events: GroupEvent[] = [];
    const subscription = group.events$.subscribe((event) => events.push(event));
    run('b');
    fail('a', tooMany(100));
    await clock.advanceAsync(50);
    fail('b', tooMany(100));
    await clock.advanceAsync(1_000);
    expect(events.map(({ at, key, ...event }) => [at, key, event])).toEqual([
      [0, 'a', { kind: 'modeChanged', level: 'info', mode: 'throttled' }],
      [50, 'b', { kind: 'modeChanged', level: 'info', mode: 'throttled' }],
      [300, 'a', { kind: 'modeChanged', level: 'info', mode: 'normal' }],
      [350, 'b', { kind: 'modeChanged', level: 'info', mode: 'normal' }],
    ]);
    const timers = clock.pendingTimers;
    run('c');
    fail('c', tooMany(100));
    await clock.advanceAsync(0);
    expect(clock.pendingTimers).toBe(timers + 1);
    subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(timers);
    await clock.advanceAsync(20_000);
    expect(group.keys).toEqual([]);
  });

  it('forget the mode of a dropped key', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    const each = { feedback };
    const group = createLimiterGroup((key: string) => key, { clock, each, idleMs: 1_000 });
    const events = listenTo(group);
    await group.run('a', () => 'done');
    await clock.advanceAsync(5_000);
    expect(group.keys).toEqual([]);
    feedback.next({ kind: 'throttled', retryAfterMs: 100 });
    await clock.advanceAsync(60_000);
    expect(events).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('continue after a listener that throws or unsubscribes', async () => {
    const { clock, group, run, end } = groupRig({ shared: { concurrency: 1 } });
    const subscription = group.events$.subscribe(() => subscription.unsubscribe());
    const [one, two] = [run('a1'), run('b1')];
    for (const name of ['a1', 'b1']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect([one.value, two.value]).toEqual(['a1', 'b1']);
  });

  it('include a snapshot of every present key and of the shared limits', async () => {
    const { clock, group, run, fail } = groupRig({
      each: { maxAttempts: 1, requestsPerMinute: 60 },
      shared: { concurrency: 1, maxBytes: 100, pace: { intervalMs: 10 }, tokensPerMinute: 100 },
    });
    run('a', { bytes: 10, tokens: 5 });
    run('b');
    expect(group.snapshot()).toMatchObject({
      shared: {
        concurrency: { limit: 1, inFlight: 1 },
        byteBudget: { used: 10 },
        rateLimit: { tokens: { used: 5 } },
        pace: { nextInMs: 10 },
      },
      keys: {
        a: { waiting: 0, rateLimit: { requests: { used: 1 } }, concurrency: { inFlight: 1 } },
        b: { waiting: 1, binding: 'concurrency', rateLimit: { requests: { used: 0 } } },
      },
    });
    fail('a', new ApiError(400));
    await clock.advanceAsync(10);
    expect(group.snapshot().keys.a?.ended).toMatchObject({ failed: 1 });
    expect(groupRig().group.snapshot()).toEqual({ shared: undefined, keys: {} });
  });
});

describe('an estimator that unsubscribes', () => {
  it('as the turn of a waiting request comes has each request counted once', () => {
    const group = createLimiterGroup(() => 'key', { each: { concurrency: 1 } });
    let calls = 0;
    const estimate = () => {
      calls += 1;
      // The first that waits is the head, and has its ticket at once.
      if (calls === 3) subscription.unsubscribe();
      return 1;
    };
    const first = new Subject<void>();
    const source = new Subject<number>();
    const subscription = source.pipe(group.throttle(() => first, { estimate })).subscribe();
    for (const value of [0, 1, 2, 3]) source.next(value);
    expect(calls).toBe(2);
    first.complete();
    expect(calls).toBe(3);
    expect(group.snapshot().keys.key).toMatchObject({
      waiting: 0,
      ended: { ok: 2, cancelled: 2 },
      concurrency: { inFlight: 0 },
    });
  });
});
