import { readBody } from '../feedback/read-body.ts';
import type { Clock } from '../model/clock.ts';

/** The body of a response that says no, while it is read: what comes after the response waits. */
export class PendingBody {
  private _stop: (() => void) | undefined = undefined;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param judge is told what the body says; returns whether what has waited is wanted still
   * @returns false: there is no text to be read, and nobody is told
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
