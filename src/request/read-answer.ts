import type { ReportedLimit, Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import { reportedLimits } from '../providers/classify.ts';
import { headersOfResult } from '../providers/result-headers.ts';
import { pricedTokens, usageOf } from '../providers/usage.ts';

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
