/** Virtual time, which passes as fast as it can be computed. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers';
import FakeTimers from '@sinonjs/fake-timers';
import type { Clock, Random } from 'headgate';
import { ManualClock } from 'headgate/simulator';

export interface VirtualTime {
  readonly clock: Clock;
  /**
   * Advances to a time, in ms from the start: fires timers, and lets promises settle between them.
   */
  runUntil(atMs: number): Promise<void>;
  /** Restores the platform's globals. */
  end(): void;
}

/** The wall clock at the start. It is not 0, which a client could take for "not set". */
const START_WALL_MS = Date.UTC(2025, 0, 1);

/** Times this close to a whole millisecond count as whole, since sums of fractions are inexact. */
const ROUNDING_MS = 1e-6;

/** Time for clients that accept a clock. */
export function manualTime(): VirtualTime {
  const clock = new ManualClock();
  return { clock, runUntil: (atMs) => clock.advanceToAsync(atMs), end: () => undefined };
}

/** Time for clients that accept a clock and work only in its callbacks, without promises. */
export function callbackTime(): VirtualTime {
  const clock = new ManualClock();
  return { clock, runUntil: async (atMs) => clock.advanceTo(atMs), end: () => undefined };
}

/**
 * Time for clients that use the platform's globals. Timers, clocks and `Math.random` are replaced
 * until `end`. Times are whole milliseconds, as those of the platform's timers. The caller, and all
 * that it starts, draw from `random`; others in the process, such as a test runner's messages, draw
 * from the platform's chance, so that a run does not depend on them.
 */
export function globalTime(random: Random): VirtualTime {
  const fake = FakeTimers.install({
    now: START_WALL_MS,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    // A high bound: no measured client fires timers endlessly at one instant.
    loopLimit: 1_000_000,
  });
  const chance = Math.random;
  const caller = new AsyncLocalStorage<Random>();
  caller.enterWith(random);
  Math.random = () => (caller.getStore() ?? chance)();
  const clock: Clock = {
    now: () => fake.now - START_WALL_MS,
    setTimer: (callback, delayMs) => {
      const timer = fake.setTimeout(callback, Math.ceil(delayMs - ROUNDING_MS));
      return { cancel: () => fake.clearTimeout(timer) };
    },
  };
  return {
    clock,
    async runUntil(atMs) {
      let isOver = false;
      fake.setTimeout(() => {
        isOver = true;
      }, atMs - clock.now());
      await settle();
      while (!isOver) {
        fake.next();
        await settle();
      }
    },
    end: () => {
      Math.random = chance;
      fake.uninstall();
    },
  };
}

/** Runs all pending promise reactions, with the real `setImmediate`. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
