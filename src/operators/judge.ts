import type { FeedbackKind, Verdict } from '../model/feedback.ts';

/** What a predicate that throws would say is said by the default. */
export function judgeOf(
  isFailure: ((verdict: Verdict) => boolean) | undefined,
  kinds: readonly FeedbackKind[],
): (verdict: Verdict) => boolean {
  const usual = (verdict: Verdict) => kinds.includes(verdict.kind);
  if (isFailure === undefined) return usual;
  let warned = false;
  return (verdict) => {
    try {
      return isFailure(verdict);
    } catch (error) {
      if (!warned) process.emitWarning(`headgate: \`isFailure\` threw: ${String(error)}`);
      warned = true;
      return usual(verdict);
    }
  };
}
