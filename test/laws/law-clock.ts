import { ManualClock } from '../../src/simulator/manual-clock.ts';
import type { Timer } from '../../src/util/clock.ts';

/** Knows which of its timers keep the process alive. */
export class LawClock extends ManualClock {
  keepAlive = 0;

  override setTimer(callback: () => void, delayMs: number, keepAlive = true): Timer {
    let counts = keepAlive ? 1 : 0;
    const over = () => {
      this.keepAlive -= counts;
      counts = 0;
    };
    this.keepAlive += counts;
    const timer = super.setTimer(() => {
      over();
      callback();
    }, delayMs);
    return {
      cancel: () => {
        over();
        timer.cancel();
      },
    };
  }
}
