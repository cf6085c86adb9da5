import { describe, expect, it } from 'vitest';
import { createLimiterGroup } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { rig } from '../../limiter/rig.ts';
import { tooMany } from '../../request/harness.ts';

const oneIn = (windowMs: number) => ({ requests: { limit: 1, windowMs } });

/** A rig whose tasks take some time and note when they were started. */
function timed(options: Parameters<typeof rig>[0]) {
  const around = rig(options);
  const { clock, limiter } = around;
  const starts: [name: string, at: number][] = [];
  const run = (name: string, ms: number, priority = 0, errors: unknown[] = [], bytes = 0) =>
    fate(
      limiter.run(
        async () => {
          starts.push([name, clock.now()]);
          const error = errors.shift();
          if (error !== undefined) throw error;
          await new Promise((resolve) => clock.setTimer(() => resolve(1), ms));
        },
        { priority, bytes },
      ),
    );
  return { ...around, starts, run };
}

describe('an urgent request', () => {
  it('is the next one sent where the rate is what binds', async () => {
    const { clock, run, starts, limiter } = timed({ concurrency: 4, limits: oneIn(500) });
    for (let n = 0; n < 20; n += 1) run(`${n}`, 10);
    await clock.advanceAsync(100);
    run('urgent', 10, 1);
    await clock.advanceAsync(500);
    expect(starts).toEqual([
      ['0', 0],
      ['urgent', 500],
    ]);
    await clock.runAllAsync();
    expectIdle(limiter);
  });

  it('is the next one sent where the pace binds', async () => {
    const pace = { intervalMs: 500, jitter: 0 };
    const { clock, run, starts, limiter } = timed({ concurrency: 4, adaptive: false, pace });
    for (let n = 0; n < 20; n += 1) run(`${n}`, 10);
    await clock.advanceAsync(100);
    expect(limiter.snapshot().binding).toBe('pace');
    run('urgent', 10, 1);
    await clock.advanceAsync(500);
    expect(starts).toEqual([
      ['0', 0],
      ['urgent', 500],
    ]);
    await clock.runAllAsync();
    expectIdle(limiter);
  });

  it('is the next one sent where the bytes bind', async () => {
    const { clock, run, starts, limiter } = timed({ concurrency: 4, maxBytes: 15 });
    for (let n = 0; n < 20; n += 1) run(`${n}`, 500, 0, [], 10);
    await clock.advanceAsync(100);
    expect(limiter.snapshot().binding).toBe('byteBudget');
    run('urgent', 10, 1, [], 10);
    await clock.advanceAsync(400);
    expect(starts.slice(0, 4)).toEqual([
      ['0', 0],
      ['1', 0],
      ['urgent', 500],
      ['2', 500],
    ]);
    await clock.runAllAsync();
    expectIdle(limiter);
  });

  it('is the next one sent where the adaptive rate binds', async () => {
    const { clock, run, starts, limiter } = timed({ concurrency: 4 });
    // A rejection after four accepted requests has the rate learned: others wait for that alone.
    for (let n = 0; n < 40; n += 1) run(`${n}`, 10, 0, n >= 4 && n < 8 ? [tooMany()] : []);
    await clock.advanceAsync(140);
    expect(limiter.snapshot()).toMatchObject({ binding: 'pace', adaptive: { origin: 'learned' } });
    const before = starts.length;
    run('urgent', 10, 1);
    await clock.advanceAsync(1_000);
    expect(starts[before]?.[0]).toBe('urgent');
    await clock.runAllAsync();
    expectIdle(limiter);
  });

  it('is the next one sent where a backoff binds, whatever binds after it', async () => {
    for (const options of [
      { pace: { intervalMs: 500, jitter: 0 } },
      { backoff: { reopen: 'all' as const }, limits: oneIn(500) },
    ]) {
      const { clock, run, starts, limiter } = timed({ concurrency: 4, ...options });
      limiter.feedback.next({ kind: 'throttled', retryAfterMs: 300 });
      for (let n = 0; n < 6; n += 1) run(`${n}`, 10);
      run('urgent', 10, 1);
      await clock.advanceAsync(300);
      expect(starts).toEqual([['urgent', 300]]);
    }
  });

  it('does not block the waiting retry that holds the slot it needs', async () => {
    const { clock, run, starts, limiter } = timed({ concurrency: 1, adaptive: false });
    run('retried', 10, 0, [tooMany(200)]);
    await clock.advanceAsync(50);
    const urgent = run('urgent', 10, 5);
    await clock.runAllAsync();
    expect(starts).toEqual([
      ['retried', 0],
      ['retried', 200],
      ['urgent', 210],
    ]);
    expect(urgent.state).toBe('ok');
    expectIdle(limiter);
  });
});

describe('a request that waits', () => {
  it('holds no slot and no bytes, whatever it waits for', async () => {
    const { clock, limiter } = rig({ concurrency: 4, limits: oneIn(500) });
    for (let n = 0; n < 9; n += 1) fate(limiter.run(() => n, { bytes: 10 }));
    await clock.advanceAsync(1);
    expect(limiter.snapshot()).toMatchObject({
      waiting: 8,
      binding: 'rateLimit',
      concurrency: { inFlight: 0 },
      byteBudget: { used: 0 },
    });
  });

  it('books its wait to the binding gates by time, and to the binding limit', async () => {
    const { clock, limiter } = rig({ concurrency: 1, adaptive: false, limits: oneIn(1_000) });
    const waits: unknown[] = [];
    limiter.events$.subscribe((event) => {
      if (event.kind === 'waited') waits.push([event.gate, event.limit, event.waitMs]);
    });
    const held = await limiter.acquire();
    fate(limiter.run(() => 1));
    await clock.advanceAsync(300);
    held.release();
    await clock.advanceAsync(700);
    expect(waits).toEqual([
      ['concurrency', undefined, 300],
      ['rateLimit', 'requests', 700],
    ]);
  });
});

describe('a retry', () => {
  it('goes before unsent requests of its priority, and after more urgent ones', async () => {
    const { clock, run, starts } = timed({
      concurrency: 2,
      adaptive: false,
      limits: oneIn(100),
    });
    run('retried', 1, 0, [tooMany(50)]);
    for (const [name, priority] of [
      ['same', 0],
      ['urgent', 1],
    ] as const) {
      run(name, 1, priority);
    }
    await clock.runAllAsync();
    expect(starts).toEqual([
      ['retried', 0],
      ['urgent', 100],
      ['retried', 200],
      ['same', 300],
    ]);
  });

  it('keeps its slot, and is sent even under a lowered limit', async () => {
    const { clock, run, starts, limiter } = timed({ concurrency: 3, adaptive: false });
    for (const name of ['a', 'b']) run(name, 1_000);
    run('retried', 1, 0, [tooMany(50)]);
    await clock.advanceAsync(10);
    limiter.configure({ concurrency: 1 });
    expect(limiter.snapshot().concurrency.inFlight).toBe(3);
    await clock.advanceAsync(40);
    expect(starts.at(-1)).toEqual(['retried', 50]);
    await clock.runAllAsync();
    expectIdle(limiter);
  });
});

describe('a key of a group', () => {
  it('goes on when an urgent newcomer is refused by its own limit', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((key: string) => key, {
      clock,
      each: { onLimit: 'fail', limits: { units: { limit: 5, windowMs: 10_000 } }, adaptive: false },
      shared: { concurrency: 1 },
    });
    const held = await group.acquire('a', { costs: { units: 4 } });
    const waiting = fate(group.run('a', () => 'sent', { costs: { units: 1 } }));
    const urgent = fate(group.run('a', () => 'never', { priority: 1, costs: { units: 3 } }));
    const other = fate(group.run('b', () => 'other'));
    await clock.advanceAsync(0);
    expect(urgent.state).toBe('failed');
    held.release();
    await clock.runAllAsync();
    expect([waiting.value, other.value]).toEqual(['sent', 'other']);
  });

  it('waits for its own slot without keeping others from the shared limits', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((key: string) => key, {
      clock,
      each: { concurrency: 1, adaptive: false },
      shared: { limits: { requests: { limit: 2, windowMs: 100 } } },
    });
    const starts: string[] = [];
    const run = (key: string, name: string, ms: number) =>
      void group.run(key, async () => {
        starts.push(`${name} ${clock.now()}`);
        await new Promise((resolve) => clock.setTimer(() => resolve(1), ms));
      });
    run('a', 'a1', 1_000);
    run('b', 'b1', 1);
    run('a', 'a2', 1);
    run('b', 'b2', 1);
    run('c', 'c1', 1);
    await clock.runAllAsync();
    expect(starts).toEqual(['a1 0', 'b1 0', 'c1 100', 'b2 100', 'a2 1000']);
  });
});
