import { FEEDBACK_KINDS, type Verdict } from '../model/feedback.ts';
import { positive } from '../providers/positive.ts';
import { checkChoice, checkMethods } from '../util/check.ts';

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
