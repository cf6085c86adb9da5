import type { Attempting } from './attempt-subscriber.ts';

/** What an attempt needs to be told of its end. */
type Followed = Pick<Attempting<never>, 'complete' | 'error'>;

/**
 * The part of an attempt that follows its value, such as the body of a response. The attempt ends
 * when this does. The first call of `ended` or `failed` counts.
 */
export class AttemptTail {
  private attempt: Followed | undefined = undefined;
  /** Set if it ended before the attempt had taken its value. */
  private end: ((attempt: Followed) => void) | undefined = undefined;
  private isOver = false;

  ended(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.attempt !== undefined) this.attempt.complete();
    else this.end = (attempt) => attempt.complete();
  }

  failed(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.attempt !== undefined) this.attempt.error(error);
    else this.end = (attempt) => attempt.error(error);
  }

  /** The attempt's value was taken: from now on it is told of the end, which may have come. */
  follow(attempt: Followed): void {
    this.attempt = attempt;
    this.end?.(attempt);
  }
}
