import type { ReportedLimit } from '../../model/feedback.ts';

/** A change counts once as many answers in a row report it: a client may use several limits. */
const ANSWERS = 10;
/** A larger change shows another limit. */
const MOST_FACTOR = 10;

/** Notices that a provider has changed its limit, as its reports say. */
export class LimitChange {
  /** The rate of the limit, per ms; 0 before the first report. */
  private perMs = 0;
  /** The number of answers in a row that report another rate. */
  private others = 0;

  /** @returns the factor by which the limit has changed; 1 if it has not, or not for sure yet */
  report({ limit, windowMs = 1 }: ReportedLimit): number {
    const before = this.perMs;
    const perMs = (limit ?? 0) / windowMs;
    this.others = perMs === before ? 0 : this.others + 1;
    if (before > 0 && this.others < ANSWERS) return 1;
    this.perMs = perMs;
    this.others = 0;
    const factor = perMs / (before || perMs);
    return Math.max(factor, 1 / factor) > MOST_FACTOR ? 1 : factor;
  }
}
