import type { Outcome } from 'headgate';
import { type Stop, setupStopFor } from './progress.ts';
import type { BatchRequest, BatchResponse } from './request.ts';

/** So many, and nothing that went well, are no matter of their lines. */
const MOST_HELD = 5;

type Failure = Outcome<BatchRequest, BatchResponse> & { readonly status: 'failed' };

/**
 * Holds the first failures that may be those of their lines, or that every other line would meet too:
 * a 404 may mean a wrong path, or a model that one line alone names. What goes well after it tells.
 * Answers of an earlier run do not release them: this run may have another address.
 */
export class FirstFailures {
  #held: Failure[] = [];
  #stop: Stop | undefined = undefined;
  #isTold = false;

  /** @returns whether the failure is held: it is not known yet whose it is */
  holds(failure: Failure): boolean {
    const stop = this.#isTold ? undefined : setupStopFor(failure.error);
    if (stop === undefined) return false;
    this.#held.push(failure);
    this.#stop ??= stop;
    return true;
  }

  /** Why the run is to end, once there are enough of them. */
  get stop(): Stop | undefined {
    return this.#held.length >= MOST_HELD ? this.#stop : undefined;
  }

  /** The same when no more will go well. */
  get stopAtEnd(): Stop | undefined {
    return this.#held.length > 0 ? this.#stop : undefined;
  }

  /** Something went well. @returns failures that are those of their lines */
  release(): readonly Failure[] {
    const held = this.#held;
    this.#held = [];
    this.#isTold = true;
    return held;
  }
}
