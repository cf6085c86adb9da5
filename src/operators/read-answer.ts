import { reportedLimits } from '../feedback/classify.ts';
import { headersOfResult } from '../feedback/result-headers.ts';
import { usageOf } from '../feedback/usage.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';

/** An answer that went well and says nothing of limits. */
export const OK: Verdict = { kind: 'ok' };

/** What an answer that went well says of the provider's limits, where its value shows it. */
export function readAnswer(value: unknown): Verdict {
  const headers = headersOfResult(value);
  if (headers === undefined) return OK;
  const limits = reportedLimits(headers);
  return limits.length === 0 ? OK : { kind: 'ok', limits };
}

/** Records the tokens that an answer says it has used, unless the user has recorded them. */
export function readUsage(value: unknown, ticket: Ticket): void {
  if (ticket.usage?.tokens !== undefined) return;
  const usage = usageOf(value);
  if (usage !== undefined) ticket.record('tokens', usage.tokens);
}
