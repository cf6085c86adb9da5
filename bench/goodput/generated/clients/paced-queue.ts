/** A queue that sends its head when the pace allows it and a slot is free. */
import type { Clock } from 'headgate';
import type { Timer } from 'headgate/advanced';

export interface Pace {
  /** The time until the next request may be sent, in ms; 0: now. */
  waitMs(now: number): number;
  /** Charges a request that is sent. */
  sent(now: number): void;
  /**
   * Called when the pace begins to hold requests back: before, the queue was empty or no slot was
   * free.
   */
  resumed?(now: number): void;
}

export class PacedQueue<T> {
  private readonly fresh: T[] = [];
  private head = 0;
  /** Requests to send again, which go first. */
  private readonly again: T[] = [];
  private inFlight = 0;
  private timer: Timer | undefined;
  private readonly clock: Clock;
  private readonly pace: Pace;
  private readonly mostInFlight: number;
  private readonly send: (item: T) => void;

  constructor(clock: Clock, pace: Pace, mostInFlight: number, send: (item: T) => void) {
    this.clock = clock;
    this.pace = pace;
    this.mostInFlight = mostInFlight;
    this.send = send;
  }

  push(item: T): void {
    this.fresh.push(item);
    this.resume();
  }

  pushAgain(item: T): void {
    this.again.push(item);
    this.resume();
  }

  /** Called when a sent request was answered. */
  ended(): void {
    this.inFlight -= 1;
    this.resume();
  }

  private resume(): void {
    if (this.timer !== undefined) return;
    this.pace.resumed?.(this.clock.now());
    this.drain();
  }

  private drain(): void {
    const now = this.clock.now();
    while (this.inFlight < this.mostInFlight && this.hasItems()) {
      const waitMs = this.pace.waitMs(now);
      if (waitMs > 0) {
        this.timer = this.clock.setTimer(() => {
          this.timer = undefined;
          this.drain();
        }, waitMs);
        return;
      }
      const item = this.again.pop() ?? this.fresh[this.head++];
      if (item === undefined) return;
      this.inFlight += 1;
      this.pace.sent(now);
      this.send(item);
    }
  }

  private hasItems(): boolean {
    return this.again.length > 0 || this.head < this.fresh.length;
  }
}
