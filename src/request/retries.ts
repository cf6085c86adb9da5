import { RetryAfterTooLongError } from '../model/errors.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { Ticket } from '../model/ticket.ts';
import { discard } from '../providers/shape.ts';
import type { Gate } from '../queue/gate.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { RetryWait, type Waiting } from './retry-wait.ts';

/** When the next attempt may be sent. */
export interface RetryPlan {
  readonly delayMs: number;
  /** The time left until the request's deadline, in ms; Infinity if it has none. */
  readonly leftMs: number;
}

/** The failed attempts of a request, and its wait for the next attempt. */
export class Retries {
  /** Failed attempts, without rejections and overloads. */
  private failures = 0;
  private overloads = 0;
  private _wait: RetryWait | undefined = undefined;

  /**
   * Counts a failed attempt.
   * @returns undefined if the request is not sent again
   * @throws RetryAfterTooLongError; any error of `random`
   */
  plan(
    verdict: Verdict,
    error: unknown,
    { attempts, arrivedAt }: Ticket,
    { feedback, retry, clock, random }: DispatchContext<never, unknown>,
  ): RetryPlan | undefined {
    const { retryAfterMs = 0 } = verdict;
    if (verdict.retry !== false && retryAfterMs > feedback.maxRetryAfterMs) {
      discard(error);
      throw new RetryAfterTooLongError(retryAfterMs, feedback.maxRetryAfterMs, error);
    }
    if (verdict.kind === 'overloaded') this.overloads += 1;
    else if (verdict.kind !== 'throttled') this.failures += 1;
    const elapsedMs = clock.now() - arrivedAt;
    const past = { attempts, failures: this.failures, overloads: this.overloads, elapsedMs };
    const delayMs = retry.delay(verdict, past, random);
    return delayMs === undefined ? undefined : { delayMs, leftMs: retry.deadlineMs - elapsedMs };
  }

  /** The wait for the next attempt, not started yet. */
  wait(
    ticket: Ticket,
    gates: readonly Gate[],
    waiting: Waiting,
    instrumentation?: Instrumentation,
  ): RetryWait {
    this._wait = new RetryWait(ticket, gates, waiting, instrumentation);
    return this._wait;
  }

  cancel(): void {
    this._wait?.cancel();
  }
}
