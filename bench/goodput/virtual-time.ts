/** Time that passes as fast as it can be computed. */
import { setImmediate } from 'node:timers';
import FakeTimers from '@sinonjs/fake-timers';
import type { Clock, Random } from 'headgate';
import { ManualClock } from 'headgate/simulator';

export interface VirtualTime {
  readonly clock: Clock;
  /** Fires all timers until then, in milliseconds from the start; promises settle between them. */
  runUntil(atMs: number): Promise<void>;
  /** Gives back what was taken from the platform. */
  end(): void;
}

/** What wall clocks say at the start: no client may take it for no time at all. */
const START_WALL_MS = Date.UTC(2025, 0, 1);

/** Sums of fractions are not exact: what is this near to a whole millisecond is one. */
const ROUNDING_MS = 1e-6;

/** For clients that are given a clock. */
export function manualTime(): VirtualTime {
  const clock = new ManualClock();
  return { clock, runUntil: (atMs) => clock.advanceToAsync(atMs), end: () => undefined };
}

/** For clients that are given a clock and do all their work in its callbacks, without promises. */
export function callbackTime(): VirtualTime {
  const clock = new ManualClock();
  return { clock, runUntil: async (atMs) => clock.advanceTo(atMs), end: () => undefined };
}

/**
 * For clients that use the globals of the platform, which are replaced until `end`; so is chance.
 * Its instants are whole milliseconds, as those of the platform's timers are.
 */
export function globalTime(random: Random): VirtualTime {
  const fake = FakeTimers.install({
    now: START_WALL_MS,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    // Clients that fire a timer again and again at one instant are not the ones measured here.
    loopLimit: 1_000_000,
  });
  const chance = Math.random;
  Math.random = random;
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

/** Lets every promise reaction that can run do so. This `setImmediate` is never replaced. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
