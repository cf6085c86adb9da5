import type { Verdict } from '../../model/feedback.ts';
import type { OverloadLimit } from './overload-limit.ts';

/** What was confirmed is given up after so many rejections in a row that speak against it. */
const DOUBTS = 3;
/** ... that lie so far apart: a cap that falls turns away whoever comes until enough have left. */
const DOUBT_MS = 5_000;
/** How soon a guess is put to the test. */
export const CAP_TEST_MS = 2_000;
/** A smaller difference is none. */
const SAME = 0.1;

/**
 * Tells what a bare 429 means, one that names neither a wait nor a limit: too many at once, or too
 * many in a time. The first is taken for a cap of what is in flight, which is soon put to the test: a
 * cap turns away what exceeds it, as often as it is exceeded, and nothing else.
 */
export class CapGuess {
  readonly #concurrency: OverloadLimit;
  /** In a row, since it was last confirmed: a mere guess is given up at the first. */
  #doubts = DOUBTS - 1;
  #doubtedAt = Number.NEGATIVE_INFINITY;

  constructor(concurrency: OverloadLimit) {
    this.#concurrency = concurrency;
  }

  /** Whether it has turned out to be a matter of rate. */
  get isGivenUp(): boolean {
    return this.#doubts >= DOUBTS;
  }

  /**
   * Whether an attempt was turned away because too many were in flight, so far as is known: the one
   * after which it is given up is the last.
   * @param others attempts that were in flight when it was sent
   */
  isMeant(verdict: Verdict, sentAt: number, others: number): boolean {
    const { retryAfterMs, limits, limit } = verdict;
    const isBare = retryAfterMs === undefined && limits === undefined && limit === undefined;
    if (this.isGivenUp || !isBare) return false;
    const { ceiling, held } = this.#concurrency;
    if (ceiling === undefined) return others > 0;
    if (this.#concurrency.isLate(sentAt)) return true;
    const isSame = others >= held && others <= ceiling * (1 + SAME) + 1;
    if (isSame) this.#doubts = 0;
    else if (sentAt - this.#doubtedAt >= DOUBT_MS) {
      this.#doubts += 1;
      this.#doubtedAt = sentAt;
    }
    return true;
  }
}
