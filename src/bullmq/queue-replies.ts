import type { Clock, Timer } from '../util/clock.ts';

/** How long the queue may take to answer once the time for jobs in flight is over, in ms. */
const LAST_REPLY_MS = 2_000;

/**
 * Waits for answers of the queue. While the store is away, a client may keep its commands until the
 * store is back, so that no answer comes, and no error.
 */
export class QueueReplies {
  readonly #clock: Clock;
  /** Of each pending answer: sets the limit of its wait. */
  readonly #limits = new Set<() => void>();
  #areLast = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time for jobs in flight is over. */
  get areLast(): boolean {
    return this.#areLast;
  }

  /** From now on no answer takes longer than {@link LAST_REPLY_MS}. */
  limit(): void {
    if (this.#areLast) return;
    this.#areLast = true;
    for (const limit of this.#limits) limit();
  }

  /** @throws Error if the answer takes too long */
  of(answer: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const late = () => reject(new Error(`the queue did not answer within ${LAST_REPLY_MS} ms`));
      const limit = () => {
        timer = this.#clock.setTimer(late, LAST_REPLY_MS);
      };
      this.#limits.add(limit);
      if (this.#areLast) limit();
      const end = () => {
        timer?.cancel();
        this.#limits.delete(limit);
      };
      answer.finally(end).then(resolve, reject);
    });
  }
}
