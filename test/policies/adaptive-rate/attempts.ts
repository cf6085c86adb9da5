import { SentAttempt } from '../../../src/policies/adaptive-rate/attempts/sent-attempt.ts';

type Parts = Partial<ConstructorParameters<typeof SentAttempt>[0]>;

/** An attempt that was sent at a time, and had to wait for the pace. */
export function attemptAt(at: number, parts: Parts = {}): SentAttempt {
  return new SentAttempt({
    at,
    order: 0,
    others: 0,
    pacePerMs: Number.POSITIVE_INFINITY,
    isPaced: true,
    isSaved: false,
    idleMs: 0,
    ...parts,
  });
}
