import type { Clock, Timer } from '../../util/clock.ts';

/** The state of a future. A pending one is `queued` for a unit, or `active` on a unit. */
export type FutureState = 'queued' | 'active' | 'done';

/** A result that is fetched later. */
export interface Future {
  state: FutureState;
  /** The body of the answer, once the future is done. */
  result: unknown;
  readonly done: Promise<void>;
}

/** Results by id. Each is kept for a time after it is complete. */
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

  /** Adds a future for the result of `work`. If the work fails, the future is dropped. */
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
