/** Draws the times at which a process stalls, as on an overloaded machine. */
import type { Clock, Random } from 'headgate';

/** How often a process stalls: the means of exponentially distributed times, in ms. */
export interface StallTimes {
  readonly stalledMs: number;
  readonly runningMs: number;
  /** From this time on nothing stalls, in ms. Default: it never ends. */
  readonly endMs?: number;
}

export class Stalls {
  private readonly times: StallTimes;
  private readonly random: Random;
  private stallsFrom = 0;
  private stallsUntil = 0;

  constructor(times: StallTimes, random: Random) {
    this.times = times;
    this.random = random;
  }

  /**
   * How long the process stalls from a time on, in ms; 0: it runs.
   * @param at the time, not before that of an earlier call
   */
  leftMs(at: number): number {
    if (at >= (this.times.endMs ?? Number.POSITIVE_INFINITY)) return 0;
    while (at >= this.stallsUntil) {
      this.stallsFrom = this.stallsUntil + this.draw(this.times.runningMs);
      this.stallsUntil = this.stallsFrom + this.draw(this.times.stalledMs);
    }
    return at < this.stallsFrom ? 0 : this.stallsUntil - at;
  }

  private draw(meanMs: number): number {
    return -Math.log(1 - this.random()) * meanMs;
  }
}

/** The clock of a process that stalls. Its timers fire after the stall. */
export function stalledClock(clock: Clock, stalls: Stalls): Clock {
  return {
    now: () => clock.now(),
    setTimer: (callback, delayMs, keepAlive) => {
      const fire = () => {
        const leftMs = stalls.leftMs(clock.now());
        if (leftMs === 0) callback();
        else timer = clock.setTimer(fire, leftMs, keepAlive);
      };
      let timer = clock.setTimer(fire, delayMs, keepAlive);
      return { cancel: () => timer.cancel() };
    },
  };
}
