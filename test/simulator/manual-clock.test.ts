import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

describe('ManualClock', () => {
  it('stands still until it is told to move', () => {
    const clock = new ManualClock(5);
    expect(clock.now()).toBe(5);
    clock.advance(10);
    expect(clock.now()).toBe(15);
    clock.advanceTo(15);
    expect(clock.now()).toBe(15);
  });

  it('fires timers in order of due time, then of setting, at their own instant', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ delayMs: fc.nat(20), cancelled: fc.boolean() }), { maxLength: 200 }),
        fc.array(fc.nat(9), { maxLength: 5 }),
        (timers, steps) => {
          const clock = new ManualClock();
          const fired: { id: number; atMs: number }[] = [];
          const handles = timers.map(({ delayMs }, id) =>
            clock.setTimer(() => fired.push({ id, atMs: clock.now() }), delayMs),
          );
          timers.forEach(({ cancelled }, id) => {
            if (cancelled) handles[id]?.cancel();
          });
          for (const ms of steps) clock.advance(ms);
          const nowMs = clock.now();
          const due = timers
            .map(({ delayMs, cancelled }, id) => ({ id, atMs: delayMs, cancelled }))
            .filter(({ cancelled, atMs }) => !cancelled && atMs <= nowMs && steps.length > 0)
            .sort((a, b) => a.atMs - b.atMs || a.id - b.id);
          expect(fired).toEqual(due.map(({ id, atMs }) => ({ id, atMs })));
          const kept = timers.filter(({ cancelled }) => !cancelled).length;
          expect(clock.pendingTimers).toBe(kept - fired.length);
        },
      ),
    );
  });

  it('fires a timer that a callback sets for the same instant in the same advance', () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    clock.setTimer(() => {
      fired.push('first');
      clock.setTimer(() => fired.push('third'), 0);
    }, 10);
    clock.setTimer(() => fired.push('second'), 10);
    clock.advance(10);
    expect(fired).toEqual(['first', 'second', 'third']);
  });

  it('forgets a cancelled timer at once, also when it is cancelled twice or after it fired', () => {
    const clock = new ManualClock();
    const timer = clock.setTimer(() => undefined, 10);
    const other = clock.setTimer(() => undefined, 20);
    timer.cancel();
    timer.cancel();
    expect(clock.pendingTimers).toBe(1);
    expect(clock.nextTimerMs).toBe(20);
    clock.advance(20);
    other.cancel();
    expect(clock.pendingTimers).toBe(0);
    expect(clock.nextTimerMs).toBeUndefined();
  });

  it('lets promises settle between timers when it advances asynchronously', async () => {
    const clock = new ManualClock();
    const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
    const seen: number[] = [];
    const run = async () => {
      for (let turn = 0; turn < 3; turn++) {
        await sleep(100);
        await Promise.resolve().then(() => Promise.resolve());
        seen.push(clock.now());
      }
    };
    const done = run();
    await clock.advanceAsync(1000);
    await done;
    expect(seen).toEqual([100, 200, 300]);
    expect(clock.now()).toBe(1000);
  });

  it('runs until no timer is left, and stops at the last', async () => {
    const clock = new ManualClock();
    clock.setTimer(() => clock.setTimer(() => undefined, 30), 12);
    clock.runAll();
    expect(clock.now()).toBe(42);
    clock.setTimer(() => undefined, 8);
    await clock.runAllAsync();
    expect(clock.now()).toBe(50);
  });

  it('refuses to run for ever', () => {
    const clock = new ManualClock();
    const again = () => clock.setTimer(again, 1000);
    again();
    expect(() => clock.runAll({ maxMs: 5000 })).toThrow('1 timers are still pending at 5000 ms');
    const message = '`maxMS` is no option of clock.runAll; did you mean `maxMs`?';
    expect(() => clock.runAll({ maxMS: 5000 } as object)).toThrow(message);
    const stuck = new ManualClock();
    const loop = () => stuck.setTimer(loop, 0);
    loop();
    expect(() => stuck.advance(1)).toThrow('more than 1000000 timers fired at 0 ms');
  });

  it('passes on what a callback throws, and can go on', () => {
    const clock = new ManualClock();
    clock.setTimer(() => {
      throw new Error('from a callback');
    }, 10);
    let fired = 0;
    clock.setTimer(() => fired++, 20);
    expect(() => clock.advance(30)).toThrow('from a callback');
    expect(clock.now()).toBe(10);
    clock.advance(20);
    expect(fired).toBe(1);
  });

  it('refuses wrong times by name, and to advance from within a callback', () => {
    const clock = new ManualClock();
    expect(() => clock.advance(-1)).toThrow('`ms` must be a finite number >= 0, got -1');
    expect(() => clock.advance(Number.NaN)).toThrow('got NaN');
    expect(() => clock.setTimer(() => undefined, Number.NaN)).toThrow('`delayMs`');
    expect(() => clock.setTimer(() => undefined, Number.POSITIVE_INFINITY)).toThrow('`delayMs`');
    clock.advance(100);
    expect(() => clock.advanceTo(99)).toThrow('`atMs` must be a finite number >= 100, got 99');
    clock.setTimer(() => clock.advance(1), 1);
    expect(() => clock.advance(1)).toThrow('already advancing');
    expect(() => new ManualClock(-1)).toThrow('`startMs`');
  });
});
