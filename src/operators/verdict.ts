import { positive } from '../feedback/positive.ts';
import { checkChoice, checkMethods } from '../model/check.ts';
import { FEEDBACK_KINDS, type Verdict } from '../model/feedback.ts';

/**
 * What a classifier says of an error; a wait that makes no sense is left out.
 * @throws what the classifier throws; TypeError for what is no verdict
 */
export function verdictOn(error: unknown, classify: (error: unknown) => Verdict): Verdict {
  const verdict = classify(error);
  checkMethods('what classify returns', verdict, []);
  checkChoice('classify().kind', verdict.kind, FEEDBACK_KINDS);
  const retryAfterMs = positive(verdict.retryAfterMs);
  return retryAfterMs === verdict.retryAfterMs ? verdict : { ...verdict, retryAfterMs };
}
