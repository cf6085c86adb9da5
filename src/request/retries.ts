import { ProviderUnreachableError, RetryAfterTooLongError } from '../model/errors.ts';
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

/** A used-up quota whose end is waited for. */
const THROTTLED: Verdict = { kind: 'throttled' };

/** The failed attempts of a request, and its wait for the next attempt. */
export class Retries {
  /** Failed attempts, without rejections and overloads. */
  private failures = 0;
  private overloads = 0;
  /** Attempts whose connection failed: all, and since the last outage. */
  private unconnected = 0;
  private unreached = 0;
  private _wait: RetryWait | undefined = undefined;

  /**
   * Counts a failed attempt.
   * @returns undefined if the request is not sent again
   * @throws RetryAfterTooLongError; ProviderUnreachableError; any error of `random`
   */
  plan(
    verdict: Verdict,
    error: unknown,
    { attempts, arrivedAt, epoch }: Ticket,
    { feedback, retry, clock, random }: DispatchContext<never, unknown>,
  ): RetryPlan | undefined {
    const { retryAfterMs = 0 } = verdict;
    const { maxRetryAfterMs, onLongWait, outageMs } = feedback;
    const isTooLong = onLongWait === 'fail' && retryAfterMs > maxRetryAfterMs;
    if (verdict.retry !== false && isTooLong) {
      discard(error);
      throw new RetryAfterTooLongError(retryAfterMs, maxRetryAfterMs, error);
    }
    const isUnconnected = verdict.connection !== undefined;
    if (isUnconnected && feedback.isFromBefore(epoch)) {
      throw new ProviderUnreachableError(outageMs, error);
    }
    const isWaitedOut = feedback.isWaitedOut(verdict);
    const isOut = isUnconnected && feedback.isOut;
    if (isUnconnected) {
      this.unconnected += 1;
      this.unreached = isOut ? 0 : this.unreached + 1;
    } else if (verdict.kind === 'overloaded') this.overloads += 1;
    else if (verdict.kind !== 'throttled' && !isWaitedOut) this.failures += 1;
    const elapsedMs = clock.now() - arrivedAt;
    const { failures, overloads, unreached, unconnected } = this;
    const past = {
      attempts: attempts - unconnected,
      failures,
      overloads,
      unreached,
      isOut,
      elapsedMs,
    };
    const delayMs = retry.delay(isWaitedOut ? THROTTLED : verdict, past, random);
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
