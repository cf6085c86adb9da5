/** Additive increase and multiplicative decrease, with an increase in proportion to the rate. */
import type { ClientContext, Request, RunningClient } from '../client.ts';
import { type Pace, PacedQueue } from './paced-queue.ts';

const START_PER_SECOND = 2;
const GROWTH_A_SECOND = 1.02;
const CUT = 0.7;
const SECOND_MS = 1_000;

class AimdPace implements Pace {
  private perSecond = START_PER_SECOND;
  private nextAt = 0;
  private grownAt = 0;
  private cutAt = Number.NEGATIVE_INFINITY;

  waitMs(now: number): number {
    return Math.max(0, this.nextAt - now);
  }

  sent(now: number): void {
    this.perSecond *= GROWTH_A_SECOND ** ((now - this.grownAt) / SECOND_MS);
    this.grownAt = now;
    this.nextAt = Math.max(now, this.nextAt) + SECOND_MS / this.perSecond;
  }

  /** Raises the rate, only while the rate is what holds requests back. */
  resumed(now: number): void {
    this.grownAt = now;
  }

  /** Cuts the rate once for all requests that were sent before the cut. */
  rejected(sentAt: number, now: number): void {
    if (sentAt <= this.cutAt) return;
    this.perSecond *= CUT;
    this.cutAt = now;
  }

  snapshot(): object {
    return { perSecond: this.perSecond };
  }
}

export function aimd({ clock, concurrency, send }: ClientContext): RunningClient {
  const pace = new AimdPace();
  const queue = new PacedQueue<Request>(clock, pace, concurrency, (request) => {
    const sentAt = clock.now();
    send(request, ({ status }) => {
      if (status !== 200) {
        pace.rejected(sentAt, clock.now());
        queue.pushAgain(request);
      }
      queue.ended();
    });
  });
  return { handOver: (request) => queue.push(request), snapshot: () => pace.snapshot() };
}
