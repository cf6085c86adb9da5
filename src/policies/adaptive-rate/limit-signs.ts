import type { ReportedLimit, Verdict } from '../../model/feedback.ts';
import type { SentAttempt } from './attempts/sent-attempt.ts';

/**
 * Distinguishes rejections by a limit from those of an outage. A provider that has reported limits
 * or a wait reports them with each rejection by a limit: one without these details has another
 * cause. So has an overload that reports no limit as used up.
 */
export class LimitSigns {
  private reportsLimits = false;
  private namesCauses = false;
  private hasThrottled = false;
  private lastWaitMs: number | undefined = undefined;

  /** Whether an answer has reported limits, or a rejection has reported limits or a wait. */
  get isTold(): boolean {
    return this.reportsLimits || this.namesCauses;
  }

  answered(limits: Verdict['limits']): void {
    if (limits !== undefined) this.reportsLimits = true;
  }

  /** Notes with a rejected attempt whether a cap may have caused the rejection, by its details. */
  describe(sent: SentAttempt, verdict: Verdict): void {
    const { limits, limit, retryAfterMs } = verdict;
    const namesNoCause = retryAfterMs === undefined && limit === undefined;
    sent.isBare = namesNoCause && limits === undefined && !this.isTold;
    // A limit of which something is left is not the cause.
    const isUnexplained = sent.isBare || (namesNoCause && isLeft(limits));
    sent.mayBeByCap = this.namesSameWait(verdict) || isUnexplained;
  }

  /**
   * Records the wait of a rejection. Rejections by a cap on concurrent requests name the same wait
   * each time, for it is configured; the wait until a rate admits a request varies.
   * @returns whether the rejection names only a wait, the same as the one before
   */
  namesSameWait({ limits, limit, retryAfterMs }: Verdict): boolean {
    const isSame = (this.lastWaitMs ?? retryAfterMs) === retryAfterMs;
    this.lastWaitMs = retryAfterMs;
    const isOnlyWait = limits === undefined && limit === undefined && !this.reportsLimits;
    return retryAfterMs !== undefined && isSame && isOnlyWait;
  }

  /** Whether a rejection lacks the details that one by the limit would have. */
  isForeign({ kind, limits, retryAfterMs, limit }: Verdict): boolean {
    const namesCause = retryAfterMs !== undefined || limit !== undefined;
    if (limits !== undefined) this.reportsLimits = true;
    if (namesCause) this.namesCauses = true;
    if (kind === 'throttled') this.hasThrottled = true;
    if (namesCause) return false;
    if (kind === 'overloaded') return limits === undefined || isLeft(limits);
    return limits === undefined && this.isTold;
  }

  /** Whether it is known how the provider rejects by its limit: a foreign rejection is none. */
  get isKnown(): boolean {
    return this.isTold || this.hasThrottled;
  }
}

/** Whether limits are reported and would have admitted the request, as far as their reports say. */
function isLeft(limits: readonly ReportedLimit[] | undefined): boolean {
  return limits?.every(({ remaining = 0 }) => remaining >= 1) === true;
}

/**
 * The used-up limit whose reset time was taken for the wait, because the answer has no Retry-After.
 * A bucket or a sliding window admits requests long before it is full again, so its reports hold
 * requests back instead. (On 79 generated providers with such headers, 7.0 +- 1.8 points more of
 * the rate are used.)
 */
export function resetOf({
  retryAfterMs,
  limits = [],
  headers,
}: Verdict): ReportedLimit | undefined {
  const isSame = ({ remaining, resetMs }: ReportedLimit) =>
    remaining === 0 && resetMs === retryAfterMs;
  // Reports of other workers bring no headers.
  if (headers === undefined || headers['retry-after'] !== undefined) return undefined;
  return limits.find(isSame);
}
