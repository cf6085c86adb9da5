import type { Verdict } from '../model/feedback.ts';
import { print } from '../model/print.ts';

/** Whether an answer of the provider tells that it is in trouble. Must not throw. */
export type IsFailure = (verdict: Verdict) => boolean;

/** What opens a circuit by default. */
export function isTrouble({ kind }: Verdict): boolean {
  return kind === 'failed' || kind === 'overloaded';
}

/** What cools down by default. */
export function isTroubleOrThrottled(verdict: Verdict): boolean {
  return verdict.kind === 'throttled' || isTrouble(verdict);
}

/** What a predicate that throws would say is said by the default. */
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
