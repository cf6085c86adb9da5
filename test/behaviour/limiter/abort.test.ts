import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLimiter, LimiterClosedError } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { countedSignal, expectIdle, fate } from '../../limiter/harness.ts';
import { failingWith, tooMany } from '../../request/harness.ts';

const reason = new Error('enough');

function make() {
  const clock = new ManualClock();
  return {
    clock,
    limiter: createLimiter({ clock, adaptive: false, concurrency: 1, maxBytes: 10 }),
  };
}

describe.each(['run', 'acquire'] as const)('%s with a signal', (method) => {
  const start = (
    limiter: ReturnType<typeof make>['limiter'],
    signal: AbortSignal,
    bytes?: number,
  ) =>
    fate<unknown>(
      method === 'run'
        ? limiter.run(() => 'ran', { signal, ...(bytes !== undefined && { bytes }) })
        : limiter.acquire({ signal, ...(bytes !== undefined && { bytes }) }),
    );

  it('that has aborted before rejects with its reason, and sends nothing', async () => {
    const { clock, limiter } = make();
    const told = start(limiter, AbortSignal.abort(reason));
    expectIdle(limiter);
    await clock.advanceAsync(0);
    expect(told).toMatchObject({ state: 'failed', error: reason });
  });

  it.each([
    ['a slot', 'concurrency', 1],
    ['bytes', 'byteBudget', 11],
    ['the end of a backoff', 'backoff', 0],
  ] as const)(
    'leaves the queue for %s at once, and affects no other request',
    async (_name, gate, bytes) => {
      const clock = new ManualClock();
      const concurrency = gate === 'concurrency' ? 1 : 10;
      // By fixed rules all go at once when the backoff is over.
      const limiter = createLimiter({ clock, concurrency, maxBytes: 10, adaptive: false });
      if (gate === 'backoff') limiter.feedback.next({ kind: 'throttled' });
      const held = fate(limiter.acquire({ bytes }));
      const signals = Array.from({ length: 5 }, countedSignal);
      const told = signals.map(({ signal }) => start(limiter, signal, 0));
      const waiting = limiter.snapshot()[gate].waiting;
      signals[0]?.controller.abort(reason);
      signals[3]?.controller.abort(reason);
      expect(limiter.snapshot()[gate].waiting).toBe(waiting - 2);
      await clock.advanceAsync(1000);
      expect([told[0], told[3]]).toMatchObject([{ error: reason }, { error: reason }]);
      held.value?.release();
      for (let round = 0; round < 5; round += 1) {
        await clock.advanceAsync(0);
        if (method === 'acquire') {
          for (const { value } of told) (value as { release(): void } | undefined)?.release();
        }
      }
      expect(told.map(({ state }) => state)).toEqual(['failed', 'ok', 'ok', 'failed', 'ok']);
      expect(signals.map(({ listeners }) => listeners.size)).toEqual([0, 0, 0, 0, 0]);
      expectIdle(limiter);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('that fires after the end changes nothing', async () => {
    const { clock, limiter } = make();
    const { controller, signal, listeners } = countedSignal();
    const told = start(limiter, signal, 5);
    await clock.advanceAsync(0);
    expect(told.state).toBe('ok');
    expect(listeners.size).toBe(0);
    const before = limiter.snapshot();
    controller.abort(reason);
    await clock.advanceAsync(0);
    expect(limiter.snapshot()).toEqual(before);
    expect(told.state).toBe('ok');
  });

  it('takes its listener back when it is refused', async () => {
    const { clock, limiter } = make();
    const { signal, listeners } = countedSignal();
    limiter.close();
    const told = start(limiter, signal);
    await clock.advanceAsync(0);
    expect(told.error).toBeInstanceOf(LimiterClosedError);
    expect(listeners.size).toBe(0);
  });

  it('that fires in a hook of its admission sends nothing, and reports no attempt', async () => {
    const clock = new ManualClock();
    const { controller, signal } = countedSignal();
    let attempts = 0;
    const instrumentation = {
      admitted: () => controller.abort(reason),
      attemptStarted: () => {
        attempts += 1;
      },
    };
    const limiter = createLimiter({ clock, instrumentation, telemetry: false });
    const told = start(limiter, signal);
    await clock.advanceAsync(0);
    expect(told.error).toBe(reason);
    expect(attempts).toBe(0);
    expectIdle(limiter);
  });

  it('may share it with a thousand others, without a warning', async () => {
    const warnings: unknown[] = [];
    const warned = (warning: unknown) => warnings.push(warning);
    process.on('warning', warned);
    const { clock, limiter } = make();
    const held = await limiter.acquire();
    const { controller, signal, listeners } = countedSignal();
    const told = Array.from({ length: 1000 }, () => start(limiter, signal));
    controller.abort(reason);
    expect(limiter.snapshot().concurrency.waiting).toBe(0);
    await clock.advanceAsync(0);
    expect(told.every(({ error }) => error === reason)).toBe(true);
    expect(listeners.size).toBe(0);
    held.release();
    expectIdle(limiter);
    // Warnings are emitted in a later turn of the real event loop.
    await sleep(1);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });
});

describe('run', () => {
  it('that is aborted in flight rejects at once, and tells the task why', async () => {
    const { clock, limiter } = make();
    const { controller, signal, listeners } = countedSignal();
    let told: AbortSignal | undefined;
    const task = (context: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        told = context.signal;
        told.addEventListener('abort', () => reject(new Error('of the task')));
      });
    const ran = fate(limiter.run(task, { signal, bytes: 5 }));
    const next = fate(limiter.run(() => 'next'));
    controller.abort(reason);
    await clock.advanceAsync(0);
    expect(ran.error).toBe(reason);
    expect(told?.reason).toBe(reason);
    expect(next.value).toBe('next');
    expect(listeners.size).toBe(0);
    expectIdle(limiter);
  });

  it('that is aborted by its own task rejects, whatever the task returns', async () => {
    const { clock, limiter } = make();
    const controller = new AbortController();
    const task = () => {
      controller.abort(reason);
      return 'too late';
    };
    const ran = fate(limiter.run(task, { signal: controller.signal }));
    await clock.advanceAsync(0);
    expect(ran.error).toBe(reason);
    expectIdle(limiter);
  });

  it('that is aborted while its retry waits in a backoff leaves with its leases', async () => {
    const { clock, limiter } = make();
    const { controller, signal, listeners } = countedSignal();
    const { calls, project } = failingWith([tooMany()], () => clock.now());
    const ran = fate(limiter.run(project, { signal, bytes: 5 }));
    await clock.advanceAsync(500);
    expect(limiter.snapshot()).toMatchObject({
      backoff: { waiting: 1 },
      byteBudget: { used: 5 },
    });
    controller.abort(reason);
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
    await clock.advanceAsync(1000);
    expect(ran.error).toBe(reason);
    expect(calls).toEqual([0]);
    expect(listeners.size).toBe(0);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('no'))],
    ['goes well', () => Promise.resolve('yes')],
  ])('takes its listener back when the task %s', async (_name, task) => {
    const { clock, limiter } = make();
    const { signal, listeners } = countedSignal();
    fate<unknown>(limiter.run<unknown>(task, { signal }));
    expect(listeners.size).toBe(1);
    await clock.advanceAsync(0);
    expect(listeners.size).toBe(0);
  });
});
