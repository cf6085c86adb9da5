import {
  FEEDBACK_KINDS,
  type Feedback,
  type ReportedLimit,
  type Verdict,
} from '../model/feedback.ts';
import { checkChoice, checkFields, checkMethods } from '../util/check.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import { SHARED_FIELDS } from './judge.ts';
import { defaultProviders, readProviders } from './registry.ts';
import { positive } from './shape.ts';

/**
 * Returns the meaning of an error or a response, by its fields: `status`, `code`, `name` and
 * `headers`, on itself or on the `response`, `error` or `cause` in it. Uses headgate's own provider
 * adapters.
 */
export const { classify, reportedLimits } = readProviders(defaultProviders);

/** Returns the meaning of an error, or of a response and its body. */
export type Classifier = (error: unknown, body?: string) => Verdict;

/** The user's classifier. If it returns undefined, the shape of the error decides. */
export function classifierOf(
  custom: ((error: unknown, body?: string) => Verdict | undefined) | undefined,
): Classifier {
  if (custom === undefined) return classify;
  return (error, body) => custom(error, body) ?? classify(error, body);
}

const VERDICT_FIELDS = [
  ...SHARED_FIELDS,
  'headers',
  'status',
  'connection',
  'timedOut',
] as const satisfies readonly (keyof Verdict)[];

/** A successful answer without reported limits. */
export const OK: Verdict = { kind: 'ok' };

/**
 * The verdict of a classifier on an error, or on a response and its body, without an unusable wait.
 * @throws the error of the classifier; TypeError for a result that is no verdict, or has a field
 *   that no verdict has
 */
export function verdictOn(error: unknown, classifier: Classifier, body?: string): Verdict {
  const verdict = body === undefined ? classifier(error) : classifier(error, body);
  checkMethods('classify()', verdict, []);
  checkFields('classify()', verdict, VERDICT_FIELDS);
  checkChoice('classify().kind', verdict.kind, FEEDBACK_KINDS);
  const retryAfterMs = positive(verdict.retryAfterMs);
  return retryAfterMs === verdict.retryAfterMs ? verdict : { ...verdict, retryAfterMs };
}

/** Adds limits to a verdict that has none. */
export function withLimits(
  verdict: Verdict,
  limits: readonly ReportedLimit[] | undefined,
): Verdict {
  if (limits === undefined || verdict.limits !== undefined) return verdict;
  return { ...verdict, limits };
}

/**
 * Checks feedback that a user has pushed. The provider's values may be anything,
 * so unusable ones are left out. The kind comes from code, so a wrong one throws.
 *
 * @throws TypeError that names the field
 */
export function verdictOf(feedback: Feedback): Verdict {
  checkMethods('feedback', feedback, []);
  checkChoice('feedback.kind', feedback.kind, FEEDBACK_KINDS);
  const { kind, limit, limits } = feedback;
  const told = Array.isArray(limits) ? limits.filter(isUsable) : [];
  return withoutUndefined({
    kind,
    retryAfterMs: positive(feedback.retryAfterMs),
    limit: typeof limit === 'string' ? limit : undefined,
    limits: told.length > 0 ? told : undefined,
  });
}

function isUsable(limit: ReportedLimit | undefined): boolean {
  const { limit: most, remaining, resetMs, windowMs } = limit ?? {};
  return [most, remaining, resetMs, windowMs].every((value = 0) => value >= 0 && value < 1e15);
}
