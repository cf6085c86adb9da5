import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/util/clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the system clock', () => {
  it('calls back once, after the delay', () => {
    const callback = vi.fn();
    const start = systemClock.now();
    systemClock.setTimer(callback, 250);
    vi.advanceTimersByTime(249);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
    expect(systemClock.now() - start).toBe(250);
    vi.advanceTimersByTime(10_000);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('never calls back within setTimer', () => {
    const callback = vi.fn();
    systemClock.setTimer(callback, 0);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(0);
    expect(callback).toHaveBeenCalledOnce();
  });

  it('does not fire before a delay that is no whole number', () => {
    let firedAt = Number.NaN;
    const start = systemClock.now();
    systemClock.setTimer(() => {
      firedAt = systemClock.now();
    }, 1.2);
    vi.advanceTimersByTime(10);
    expect(firedAt - start).toBeGreaterThanOrEqual(1.2);
  });

  it.each([2 ** 31, 2 ** 33])('takes a delay of %i ms, which is too long for Node', (delayMs) => {
    const callback = vi.fn();
    systemClock.setTimer(callback, delayMs);
    vi.advanceTimersByTime(delayMs - 1);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('cancels, at first and after it was set again, and twice', () => {
    const callback = vi.fn();
    const long = systemClock.setTimer(callback, 2 ** 33);
    vi.advanceTimersByTime(2 ** 32);
    long.cancel();
    long.cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(2 ** 33);
    expect(callback).not.toHaveBeenCalled();
  });

  it('keeps the process alive unless told otherwise', () => {
    vi.useRealTimers();
    const set = vi.spyOn(globalThis, 'setTimeout');
    const timers = [
      systemClock.setTimer(() => {}, 60_000),
      systemClock.setTimer(() => {}, 60_000, false),
    ];
    const kept = set.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef());
    for (const timer of timers) timer.cancel();
    set.mockRestore();
    expect(kept).toEqual([true, false]);
  });

  it('needs no timers that can be detached: those of browsers and jsdom are numbers', () => {
    const { setTimeout: set } = globalThis;
    const callback = vi.fn();
    vi.stubGlobal('setTimeout', (call: () => void, ms: number) => Number(set(call, ms)));
    systemClock.setTimer(callback, 20, false);
    vi.advanceTimersByTime(20);
    vi.unstubAllGlobals();
    expect(callback).toHaveBeenCalledOnce();
  });

  it('lets fake timers fire on their millisecond, whatever part of one is over when they come', () => {
    vi.useRealTimers();
    const time = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => time.mockRestore());
    const added = systemClock.now();
    // A sum is rounded where a power of two lies between the two times, in one of these cases up.
    const power = 2 ** Math.ceil(Math.log2(added + 1_000));
    const now = [1, 3]
      .map((count) => power - 500 + count * power * 2 ** -53)
      .find((from) => from + 1_000 - from > 1_000);
    time.mockReturnValue(Number(now) - added);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const fired = vi.fn();
    systemClock.setTimer(fired, 1_000);
    vi.advanceTimersByTime(1_000);
    expect(fired).toHaveBeenCalledOnce();
  });

  it('never goes back where fake timers come and go, each with a time of their own', () => {
    let last = systemClock.now();
    const reads = () => {
      const now = systemClock.now();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    };
    for (const advanceMs of [120_000, 0, 5]) {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      reads();
      const from = systemClock.now();
      vi.advanceTimersByTime(advanceMs);
      expect(systemClock.now() - from).toBe(advanceMs);
      reads();
      vi.useRealTimers();
      reads();
    }
  });

  it.each([1_000, 2 ** 33])(
    'follows fake timers that leave performance alone (%i ms)',
    (delayMs) => {
      vi.useRealTimers();
      const time = vi.spyOn(performance, 'now').mockReturnValue(0);
      onTestFinished(() => time.mockRestore());
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const fired: number[] = [];
      const start = systemClock.now();
      const call = () => {
        fired.push(systemClock.now() - start);
        if (fired.length < 3) systemClock.setTimer(call, delayMs);
      };
      systemClock.setTimer(call, delayMs);
      vi.advanceTimersByTime(delayMs - 1);
      expect(fired).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(fired).toEqual([delayMs]);
      vi.advanceTimersByTime(2 * delayMs);
      expect(fired).toEqual([delayMs, 2 * delayMs, 3 * delayMs]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('does not run ahead where a wrapped setTimeout fires a part of a millisecond early', () => {
    const { setTimeout: set } = globalThis;
    vi.stubGlobal('setTimeout', (call: () => void, ms: number) => set(call, ms));
    const start = systemClock.now();
    const startMs = performance.now();
    const callback = vi.fn();
    systemClock.setTimer(callback, 20);
    const time = vi.spyOn(performance, 'now').mockReturnValue(startMs + 19.5);
    onTestFinished(() => {
      time.mockRestore();
      vi.unstubAllGlobals();
    });
    vi.advanceTimersByTime(20);
    expect(callback).not.toHaveBeenCalled();
    expect(systemClock.now() - start).toBe(19.5);
  });
});
