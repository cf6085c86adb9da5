import type { ReportedLimit } from '../../model/feedback.ts';

/** A change counts once as many answers in a row report it: a client may use several limits. */
const ANSWERS = 10;
/** A larger change, with another window, shows another limit. */
const MOST_FACTOR = 10;

/** Notices that a provider has changed its limit, as its reports say. */
export class LimitChange {
  /** The rate of the limit, per ms; 0 before the first report. */
  private perMs = 0;
  private windowMs = 0;
  /** The number of answers in a row that report another rate. */
  private others = 0;
  /** The learned rate before the first of these answers, per ms. */
  private learnedPerMs = 0;

  /**
   * @param learnedPerMs the learned rate now, per ms
   * @returns the factor by which the limit has changed the learned rate; 1 if it has not, or not
   * for sure yet
   */
  report({ limit, windowMs = 1 }: ReportedLimit, learnedPerMs: number): number {
    const before = this.perMs;
    const perMs = (limit ?? 0) / windowMs;
    if (this.others === 0) this.learnedPerMs = learnedPerMs;
    this.others = perMs === before ? 0 : this.others + 1;
    if (before > 0 && this.others < ANSWERS) return 1;
    const isSameWindow = windowMs === this.windowMs;
    this.perMs = perMs;
    this.windowMs = windowMs;
    this.others = 0;
    const isKnown = before > 0 && this.learnedPerMs > 0 && learnedPerMs > 0;
    if (!isKnown) return 1;
    const factor = perMs / before;
    if (!isSameWindow && Math.max(factor, 1 / factor) > MOST_FACTOR) return 1;
    // Rejections may have changed the learned rate meanwhile.
    const left = (factor * this.learnedPerMs) / learnedPerMs;
    return factor > 1 ? Math.max(1, left) : Math.min(1, left);
  }
}

/** Notices that the user has raised the configured limit above all earlier values. */
export class RaisedLimit {
  private perMs: number;

  /** @param perMs the rate of the limit, per ms; Infinity: there is none */
  constructor(perMs: number) {
    this.perMs = perMs;
  }

  /** @returns the factor by which the limit was raised; 1 if it was not */
  follow(perMs: number): number {
    if (perMs <= this.perMs) return 1;
    const factor = perMs / this.perMs;
    this.perMs = perMs;
    return factor === Number.POSITIVE_INFINITY ? 1 : factor;
  }
}
