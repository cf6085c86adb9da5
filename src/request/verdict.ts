import { positive } from '../feedback/positive.ts';
import { checkChoice, checkMethods } from '../model/check.ts';
import { FEEDBACK_KINDS, type Verdict } from '../model/feedback.ts';

/**
 * What a classifier says of an error, or of a response and its body; a wait that makes no sense is left out.
 * @throws what the classifier throws; TypeError for what is no verdict
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
