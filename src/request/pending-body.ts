import { readBody } from '../providers/read-body.ts';
import type { Clock } from '../util/clock.ts';

/** The body of a response that is not ok, while it is read. Later notifications wait. */
export class PendingBody {
  private _stop: (() => void) | undefined = undefined;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param judge gets the body; returns whether the delayed notifications are still wanted
   * @returns false if there is no text to read; then `judge` is not called
   */
  read(response: unknown, clock: Clock, judge: (body?: string) => boolean): boolean {
    this._stop = readBody(response, clock, (body) => {
      if (!judge(body)) return;
      for (const tell of this.waiting) tell();
    });
    return this._stop !== undefined;
  }

  later(tell: () => void): true {
    this.waiting.push(tell);
    return true;
  }

  stop(): void {
    this._stop?.();
  }
}
