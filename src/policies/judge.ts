import type { Verdict } from '../model/feedback.ts';
import { print } from '../util/print.ts';

/** Whether an answer counts as a failure of the provider. Must not throw. */
export type IsFailure = (verdict: Verdict) => boolean;

/** The default of `isFailure` for the circuit breaker. */
export function isTrouble({ kind }: Verdict): boolean {
  return kind === 'failed' || kind === 'overloaded';
}

/** The default of `isFailure` for `adaptive: 'failures'`. */
export function isTroubleOrThrottled(verdict: Verdict): boolean {
  return verdict.kind === 'throttled' || isTrouble(verdict);
}

/** Uses the default where the predicate throws. */
export function judgeOf(isFailure: IsFailure | undefined, usual: IsFailure): IsFailure {
  if (isFailure === undefined) return usual;
  let warned = false;
  return (verdict) => {
    try {
      return isFailure(verdict);
    } catch (error) {
      if (!warned) process.emitWarning(`headgate: \`isFailure\` threw: ${print(error)}`);
      warned = true;
      return usual(verdict);
    }
  };
}
