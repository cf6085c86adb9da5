import {
  FEEDBACK_KINDS,
  type Feedback,
  type ReportedLimit,
  type Verdict,
} from '../model/feedback.ts';
import { positive } from '../providers/shape.ts';
import { checkChoice, checkMethods } from '../util/check.ts';

/**
 * What can be learned from feedback that a user has pushed. The provider's values may be anything, so
 * unusable ones are left out. The kind comes from code, so a wrong one throws.
 *
 * @throws TypeError that names the field
 */
export function verdictOf(feedback: Feedback): Verdict {
  checkMethods('feedback', feedback, []);
  checkChoice('feedback.kind', feedback.kind, FEEDBACK_KINDS);
  const { kind, limit, limits } = feedback;
  const retryAfterMs = positive(feedback.retryAfterMs);
  const told = Array.isArray(limits) ? limits.filter(isUsable) : [];
  return {
    kind,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(typeof limit === 'string' && { limit }),
    ...(told.length > 0 && { limits: told }),
  };
}

function isUsable(limit: ReportedLimit | undefined): boolean {
  const { limit: most, remaining, resetMs, windowMs } = limit ?? {};
  return [most, remaining, resetMs, windowMs].every((value = 0) => value >= 0 && value < 1e15);
}
