import type { Clock, Timer } from '../../util/clock.ts';

/** How a future stands. Pending ones wait for a unit or are being worked on. */
export type FutureState = 'queued' | 'active' | 'done';

/** A result that is fetched later. */
export interface Future {
  state: FutureState;
  /** What to answer, once it is done. */
  result: unknown;
  readonly done: Promise<void>;
}

/** Results by id, kept for a time after they are there. */
export class FutureStore {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #futures = new Map<string, Future>();
  readonly #timers = new Set<Timer>();

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  find(id: string): Future | undefined {
    return this.#futures.get(id);
  }

  /** Remembers a result that `work` will make. When the work fails the future is forgotten. */
  add(id: string, work: Promise<unknown>): Future {
    const settled = work.then(
      (result) => {
        future.result = result;
        future.state = 'done';
        this.#expireLater(id);
      },
      () => {
        this.#futures.delete(id);
      },
    );
    const future: Future = { state: 'queued', result: undefined, done: settled };
    this.#futures.set(id, future);
    return future;
  }

  clear(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#futures.clear();
  }

  #expireLater(id: string): void {
    const timer = this.#clock.setTimer(
      () => {
        this.#timers.delete(timer);
        this.#futures.delete(id);
      },
      this.#keepMs,
      false,
    );
    this.#timers.add(timer);
  }
}
