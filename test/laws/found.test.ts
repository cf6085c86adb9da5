import { NEVER, Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, type Outcome, throttle } from '../../src/index.ts';
import type { Policy } from '../../src/policies/policy.ts';
import { Gate } from '../../src/queue/gate.ts';
import type { GateRules } from '../../src/queue/gate-rules.ts';
import { PriorityQueue } from '../../src/queue/priority-queue.ts';
import { RetryWait } from '../../src/request/retries.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { fate } from '../limiter/harness.ts';
import { ApiError, pending, tooMany, watch } from '../request/harness.ts';
import { ticketMaker, Waiter } from '../support/waiter.ts';
import { play, type Script } from './play.ts';

/** Too rare for a few seconds of generated scripts, or too bad to be left to chance. */
describe('what generated scripts have found', () => {
  it('a stream that leaves takes along the first that waits', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 1 });
    const source = new Subject<number>();
    const seen = watch(source.pipe(limiter.throttle(() => NEVER)));
    for (const value of [0, 1]) source.next(value);
    seen.subscription.unsubscribe();
    const drained = fate(limiter.drain());
    await clock.advanceAsync(0);
    expect(drained.state).toBe('ok');
    expect(limiter.snapshot().ended.cancelled).toBe(2);
  });

  it('one that leaves as its size is asked counts once', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 1 });
    const first = limiter.tryAcquire();
    // Behind this one the stream's requests wait without a ticket.
    const second = fate(limiter.acquire());
    const source = new Subject<number>();
    const estimate = () => {
      seen.subscription.unsubscribe();
      return 1;
    };
    const seen = watch(source.pipe(limiter.throttle(() => NEVER, { estimate })));
    for (const value of [0, 1]) source.next(value);
    first?.release();
    await clock.advanceAsync(0);
    second.value?.release();
    expect(limiter.snapshot().ended).toMatchObject({ ok: 2, cancelled: 2 });
  });

  it('a call that is cancelled as its timeout is read is over, and is not sent again', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const classify = () => {
      controller.abort('gone');
      return undefined;
    };
    const limiter = createLimiter({ clock, classify, attemptTimeoutMs: 30, adaptive: false });
    let calls = 0;
    const call = fate(
      limiter.run(
        () => {
          calls += 1;
          return new Promise(() => {});
        },
        { signal: controller.signal },
      ),
    );
    await clock.advanceAsync(30);
    expect([call.error, calls, clock.pendingTimers]).toEqual(['gone', 1, 0]);
    expect(limiter.snapshot().ended).toMatchObject({ cancelled: 1, failed: 0 });
  });

  it('a source may complete as the size of its last value is asked', async () => {
    const source = new Subject<number>();
    const estimate = () => {
      source.complete();
      return 1;
    };
    const seen = watch(source.pipe(throttle(async (value) => value, { estimate })));
    source.next(7);
    await new ManualClock().advanceAsync(0);
    expect(seen).toMatchObject({ values: [7], state: 'complete' });
  });

  it('one that finds the queue full leaves no timer', async () => {
    const clock = new ManualClock();
    const pace = { intervalMs: 100, jitter: 0 };
    const limiter = createLimiter({ clock, pace, maxQueue: 0 });
    await limiter.run(() => 'sent');
    await expect(limiter.run(() => 'too early')).rejects.toThrow('queue is full');
    expect(clock.pendingTimers).toBe(0);
  });

  it('a request whose teardown ends another has an outcome, too', async () => {
    const calls = [new Subject<number>(), new Subject<number>()];
    const project = (index: number) =>
      new Observable<number>((out) => {
        const subscription = calls[index]?.subscribe(out);
        return () => {
          subscription?.unsubscribe();
          if (index === 0) calls[1]?.complete();
        };
      });
    const source = new Subject<number>();
    const seen = watch<Outcome<number, number>>(source.pipe(throttle(project, { outcomes: true })));
    for (const value of [0, 1]) source.next(value);
    source.complete();
    calls[0]?.error(new ApiError(400));
    expect(seen.values.map(({ status }) => status)).toEqual(['ok', 'failed']);
    expect(seen.state).toBe('complete');
  });

  it('nothing is sent for a stream that is being left', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 2, backoff: { backoffMs: 100 } });
    const calls: number[] = [];
    const project = (value: number, { attempt }: { attempt: number }) => {
      calls.push(value);
      return attempt === 1 ? Promise.reject(tooMany()) : new Promise<number>(() => undefined);
    };
    const source = new Subject<number>();
    const seen = watch(source.pipe(limiter.throttle(project)));
    for (const value of [0, 1]) source.next(value);
    await clock.advanceAsync(150);
    expect(calls).toEqual([0, 1, 0]);
    // The probe goes, and the other would be the next.
    seen.subscription.unsubscribe();
    expect(calls).toEqual([0, 1, 0]);
  });

  it.each([true, false])(
    'one that is aborted as a limit denies it has gone, and no more: has waited: %s',
    async (hasWaited) => {
      const clock = new ManualClock();
      const limits = { requests: { limit: 1, windowMs: 1000 } };
      const concurrency = hasWaited ? 1 : 2;
      const limiter = createLimiter({ clock, concurrency, limits, waitTimeoutMs: 100 });
      const controller = new AbortController();
      limiter.events$.subscribe(({ kind }) => kind === 'limitDenied' && controller.abort());
      const lease = limiter.tryAcquire();
      const ran = fate(limiter.run(() => 'never', { signal: controller.signal }));
      lease?.release();
      await clock.advanceAsync(200);
      expect(ran.state).toBe('failed');
      expect(limiter.snapshot()).toMatchObject({ waiting: 0, dropped: 0, ended: { cancelled: 1 } });
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('a wait that is cancelled by those whom its end lets pass is counted once', () => {
    const clock = new ManualClock();
    const ticket = ticketMaker(clock);
    const policy: Policy = {
      wait: ({ bytes }) => (bytes > 0 ? Number.POSITIVE_INFINITY : 0),
      take: () => 0,
      giveBack: () => {},
      snapshot: () => ({}),
    };
    const order = { priorityOf: () => 0, agingMs: 1 };
    const newQueue: GateRules['newQueue'] = (isDead) => new PriorityQueue(isDead, order);
    const gate = new Gate('backoff', policy, clock, undefined, { newQueue });
    const around = { clock, instrumentation: undefined };
    const wait = new RetryWait(ticket(1), [gate], around, () => {}, true);
    wait.start(0);
    gate.enter(ticket(0), new Waiter(() => wait.cancel()));
    wait.cancel();
    expect(gate.waiting).toBe(0);
    gate.enter(ticket(1), new Waiter());
    expect(gate.waiting).toBe(1);
  });

  it('an answer that raises the concurrency is charged before it lets others in', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({
      clock,
      concurrency: 4,
      adaptive: { strategy: 'latency', initialLimit: 1, windowMs: 0, smoothing: 1 },
      limits: { tokens: { limit: 1, windowMs: 1000, charge: 'actual' } },
    });
    const calls: number[] = [];
    const call = pending<void>();
    const task = (index: number) => () => {
      calls.push(index);
      return call.promise;
    };
    for (const index of [0, 1, 2]) void limiter.run(task(index), { tokens: 5 });
    await clock.advanceAsync(10);
    call.resolve();
    await clock.advanceAsync(0);
    expect(calls).toEqual([0]);
    await clock.advanceAsync(10_000);
    expect(calls).toHaveLength(3);
  });

  it('a call that is aborted while its wait is decided leaves no timer', async () => {
    // Options that are not set are left out.
    const script = {
      setup: {
        api: 'limiter',
        hasProbe: true,
        hasListener: false,
        isHeard: true,
        concurrency: 1,
        throttledConcurrency: 1,
        throttledByteFactor: 1,
        limits: [
          ['credits', { limit: 1, windowMs: 50, algorithm: 'sliding-window', charge: 'actual' }],
        ],
        onLimit: 'wait',
        refundRejected: false,
        hasPredicate: false,
        overflow: 'error',
        agingMs: 1,
        reopen: 'probe',
        throttledForMs: 0,
        outcomes: false,
        ordered: false,
        hasPriority: false,
        ending: 'heal',
      },
      steps: [
        { action: { do: 'acquire', a: 0, b: 0, c: 74 }, after: 'on', pauseMs: 0 },
        { action: { do: 'abort', a: 129, b: 0, c: 0 }, trap: 'changed', after: 'on', pauseMs: 0 },
        { action: { do: 'burst', a: 0, b: 0, c: 0 }, trap: 'project', after: 'settle', pauseMs: 0 },
        { action: { do: 'release', a: 0, b: 1, c: 0 }, after: 'on', pauseMs: 0 },
        { action: { do: 'run', a: 0, b: 0, c: 0 }, after: 'on', pauseMs: 0 },
      ],
    };
    await play(script as unknown as Script);
  });
});
