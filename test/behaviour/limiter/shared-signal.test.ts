import { describe, expect, it } from 'vitest';
import { createLimiter, createLimiterGroup } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

describe('many requests that share one signal', () => {
  it('stand behind one listener, which is taken off when the last has ended', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(signal, args);
    };
    const limiter = createLimiter({ concurrency: 2 });
    const runs = Array.from({ length: 50 }, (_, n) => limiter.run(async () => n, { signal }));
    expect(listeners).toBe(1);
    expect(await Promise.all(runs)).toHaveLength(50);
    expect(listeners).toBe(0);
  });

  it('all end when it aborts, those in flight and those that wait', async () => {
    const controller = new AbortController();
    const limiter = createLimiter({ concurrency: 2 });
    const never = () => new Promise<never>(() => {});
    const runs = Array.from({ length: 5 }, () => limiter.run(never, { signal: controller.signal }));
    controller.abort(new Error('enough'));
    for (const run of runs) await expect(run).rejects.toThrow('enough');
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(await limiter.run(async () => 'next')).toBe('next');
  });

  const limited = { concurrency: 1, telemetry: false } as const;
  type Run = (task: () => Promise<unknown>, signal: AbortSignal) => Promise<unknown>;
  const kinds: Record<string, () => Run> = {
    run: () => {
      const limiter = createLimiter(limited);
      return (task, signal) => limiter.run(task, { signal });
    },
    'run with a timeout': () => {
      const limiter = createLimiter(limited);
      return (task, signal) => limiter.run(task, { signal, timeoutMs: 60_000 });
    },
    'run of a group': () => {
      const group = createLimiterGroup((key: string) => key, { each: () => ({ concurrency: 1 }) });
      return (task, signal) => group.run('key', task, { signal });
    },
    'run with an id': () => {
      const limiter = createLimiter(limited);
      return (task, signal) => limiter.run(task, { signal, priority: 1, id: task });
    },
  };

  it.each(Object.keys(kinds))('are not started by the abort: %s', async (kind) => {
    const run = (kinds[kind] as () => Run)();
    const controller = new AbortController();
    const { signal } = controller;
    let started = 0;
    const runs = Array.from({ length: 20 }, () =>
      run(() => {
        started += 1;
        return new Promise<never>(() => {});
      }, signal).catch(() => 'aborted'),
    );
    await Promise.resolve();
    expect(started).toBe(1);
    controller.abort();
    expect(await Promise.all(runs)).toEqual(runs.map(() => 'aborted'));
    expect(started).toBe(1);
  });

  it('are not retried after the abort, and others take their places', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 2, telemetry: false, adaptive: false });
    const controller = new AbortController();
    let attempts = 0;
    const failing = async () => {
      attempts += 1;
      if (attempts > 1) return new Promise<never>(() => {});
      throw Object.assign(new Error('500'), { status: 500 });
    };
    const { signal } = controller;
    const runs = [failing, () => new Promise<never>(() => {}), failing].map((task) =>
      limiter.run(task, { signal }).catch(() => 'aborted'),
    );
    const other = limiter.run(async () => 'other');
    await clock.advanceAsync(10);
    controller.abort();
    expect(await Promise.all(runs)).toEqual(['aborted', 'aborted', 'aborted']);
    expect(await other).toBe('other');
    expect(attempts).toBe(1);
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  it('take no turn while they leave: another request is sent at once', async () => {
    const clock = new ManualClock();
    const pace = { intervalMs: 1_000, jitter: 0 };
    const limiter = createLimiter({ clock, concurrency: 1, pace, adaptive: false });
    const waited: number[] = [];
    limiter.events$.subscribe((event) => {
      if (event.kind === 'waited') waited.push(event.waitMs);
    });
    const controller = new AbortController();
    const { signal } = controller;
    const never = () => new Promise<never>(() => {});
    for (let n = 0; n < 3; n += 1) limiter.run(never, { signal }).catch(() => {});
    const other = limiter.run(async () => clock.now());
    await clock.advanceAsync(5_000);
    controller.abort();
    await clock.advanceAsync(5_000);
    expect(await other).toBe(5_000);
    expect(waited).toEqual([5_000]);
  });
});
