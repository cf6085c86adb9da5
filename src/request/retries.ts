import { discard } from '../feedback/shape.ts';
import { RetryAfterTooLongError } from '../model/errors.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Probe } from '../model/probe.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { RetryWait, type Waiting } from './retry-wait.ts';

/** When the next attempt may be sent. */
export interface RetryPlan {
  readonly delayMs: number;
  /** Until the deadline of the request; Infinity: it has none. */
  readonly leftMs: number;
}

/** What a request has been through since its first attempt failed, and its wait for the next. */
export class Retries {
  /** Attempts that failed otherwise than by a rejection or an overload. */
  private failures = 0;
  private overloads = 0;
  private _wait: RetryWait | undefined = undefined;

  /**
   * Counts an attempt that has failed.
   * @returns undefined: the request is not sent again
   * @throws RetryAfterTooLongError; what `random` throws
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

  /** The wait for the next attempt, which is still to be started. */
  wait(ticket: Ticket, gates: readonly Gate[], waiting: Waiting, probe?: Probe): RetryWait {
    this._wait = new RetryWait(ticket, gates, waiting, probe);
    return this._wait;
  }

  cancel(): void {
    this._wait?.cancel();
  }
}
