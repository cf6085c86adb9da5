import type { Outcome } from 'headgate';
import { type Stop, setupStopFor } from './progress.ts';
import type { BatchRequest, BatchResponse } from './request.ts';

/** This number of failures without one success shows that their lines are not the cause. */
const MOST_HELD = 5;

type Failure = Outcome<BatchRequest, BatchResponse> & { readonly status: 'failed' };

/**
 * Holds the first failures while it is unknown whether their lines caused them or every other line
 * would fail too: a 404 may mean a wrong path, or a model that only one line names. The first
 * success shows that the lines caused them.
 * Answers of an earlier run do not release them: this run may have another address.
 */
export class FirstFailures {
  #held: Failure[] = [];
  #stop: Stop | undefined = undefined;
  #isTold = false;

  /** @returns whether the failure is held, because its cause is not known yet */
  holds(failure: Failure): boolean {
    const stop = this.#isTold ? undefined : setupStopFor(failure.error);
    if (stop === undefined) return false;
    this.#held.push(failure);
    this.#stop ??= stop;
    return true;
  }

  /** Why the run is to end, once enough failures are held. */
  get stop(): Stop | undefined {
    return this.#held.length >= MOST_HELD ? this.#stop : undefined;
  }

  /** Why the run is to end if no success can follow any more. */
  get stopAtEnd(): Stop | undefined {
    return this.#held.length > 0 ? this.#stop : undefined;
  }

  /** A request has succeeded. @returns the held failures, which their lines caused */
  release(): readonly Failure[] {
    const held = this.#held;
    this.#held = [];
    this.#isTold = true;
    return held;
  }
}
