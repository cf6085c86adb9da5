import { FEEDBACK_KINDS, type ReportedLimit, type Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import { reportedLimits } from '../providers/classify.ts';
import { positive } from '../providers/positive.ts';
import { readBody } from '../providers/read-body.ts';
import { headersOfResult } from '../providers/result-headers.ts';
import { pricedTokens, usageOf } from '../providers/usage.ts';
import { checkChoice, checkMethods } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';

/** A successful answer without reported limits. */
export const OK: Verdict = { kind: 'ok' };

/** The provider's limits in the value of a successful answer. */
export function readAnswer(value: unknown): Verdict {
  return withLimits(OK, limitsIn(headersOfResult(value)));
}

/**
 * The limits in the headers of an answer, or in headers themselves.
 * @returns undefined if there are none
 */
export function limitsTold(answer: unknown): readonly ReportedLimit[] | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return limitsIn(headersOfResult(answer) ?? answer);
}

/** Whether one of the provider's limits has nothing left. */
export function isUsedUp(limits: readonly ReportedLimit[]): boolean {
  return limits.some(({ remaining }) => remaining === 0);
}

/** Adds limits to a verdict that has none. */
export function withLimits(
  verdict: Verdict,
  limits: readonly ReportedLimit[] | undefined,
): Verdict {
  if (limits === undefined || verdict.limits !== undefined) return verdict;
  return { ...verdict, limits };
}

function limitsIn(headers: object | undefined): readonly ReportedLimit[] | undefined {
  if (headers === undefined) return undefined;
  const limits = reportedLimits(headers);
  return limits.length === 0 ? undefined : limits;
}

/**
 * Records the tokens that an answer says it has used, unless the user has recorded them; where they
 * are priced, input, cache and output too.
 */
export function readUsage(value: unknown, ticket: Ticket): void {
  if (ticket.usage?.tokens !== undefined) return;
  const usage = usageOf(value);
  if (usage === undefined) return;
  ticket.record('tokens', usage.tokens);
  if (!ticket.isPriced) return;
  // What a user has recorded counts, and is not added to.
  for (const [name, amount] of Object.entries(pricedTokens(value) ?? {})) {
    if (ticket.usage?.[name] === undefined) ticket.record(name, amount);
  }
}

/**
 * The verdict of a classifier on an error, or on a response and its body, without an unusable wait.
 * @throws the error of the classifier; TypeError for a result that is no verdict
 */
export function verdictOn(
  error: unknown,
  classify: (error: unknown, body?: string) => Verdict,
  body?: string,
): Verdict {
  const verdict = body === undefined ? classify(error) : classify(error, body);
  checkMethods('what classify returns', verdict, []);
  checkChoice('classify().kind', verdict.kind, FEEDBACK_KINDS);
  const retryAfterMs = positive(verdict.retryAfterMs);
  return retryAfterMs === verdict.retryAfterMs ? verdict : { ...verdict, retryAfterMs };
}

/** The body of a response that is not ok, while it is read. Later notifications wait. */
export class PendingBody {
  private _stop: (() => void) | undefined = undefined;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param judge gets the body; returns whether the delayed notifications are still wanted
   * @returns false if there is no text to read; then `judge` is not called
   */
  read(response: unknown, clock: Clock, judge: (body?: string) => boolean): boolean {
    this._stop = readBody(response, clock, (body) => {
      if (!judge(body)) return;
      for (const tell of this.waiting) tell();
    });
    return this._stop !== undefined;
  }

  later(tell: () => void): true {
    this.waiting.push(tell);
    return true;
  }

  stop(): void {
    this._stop?.();
  }
}
