/**
 * A usage above this share of the limit, and above this amount, is not explained by our own
 * attempts.
 */
const OTHERS_PART = 0.05;
const OTHERS_LEAST = 2;
/**
 * The same share in a window that is spread, counted from its first report on: there attempts are
 * counted in the order of sending, so that a process which has only begun is seen, too.
 */
const SPREAD_OTHERS_PART = 0.005;
/**
 * The same share in the first window, of which this process may have used a part before. A
 * rejection there is no evidence of others: attempts sent before it may not have been reported.
 */
const FIRST_OTHERS_PART = 0.25;
/**
 * After so many windows without others one is spread: else a process that begins later would get
 * nothing, and would never be seen.
 */
const SPREAD_EVERY = 8;
/** The refill within a window is measured over at least this share of its length. */
const FILL_PART = 0.1;

/** Whether other clients use the windows of a reported limit. */
export class WindowSharing {
  #isShared = false;
  #wasShared = false;
  /** How many windows in a row were used by this process alone. */
  #alone = 0;
  /** The first report of the window, with the amount left then plus the amount sent. */
  #first: { readonly at: number; readonly order: number; sum: number } | undefined = undefined;
  #fillPerMs = 0;

  /** Whether neither this window nor the last one was used by others. */
  get isAlone(): boolean {
    return !this.#isShared && !this.#wasShared;
  }

  /** Whether the window is spread to see others. */
  get isTest(): boolean {
    return this.#alone % SPREAD_EVERY === SPREAD_EVERY - 1;
  }

  /** The refill rate before the end, per ms, as in a sliding window. */
  get fillPerMs(): number {
    return this.#fillPerMs;
  }

  /** A new window has begun. */
  begin(): void {
    this.#alone = this.#isShared ? 0 : this.#alone + 1;
    this.#wasShared = this.#isShared;
    this.#isShared = false;
    this.#first = undefined;
  }

  /** @param amount the usage of a window that is not our own */
  used(amount: number, limit: number, isFirst: boolean): void {
    const most = isFirst ? FIRST_OTHERS_PART * limit : Math.max(OTHERS_LEAST, OTHERS_PART * limit);
    if (amount > most) this.#isShared = true;
  }

  /**
   * Compares a report with the first one of the window: since then a refill has raised the sum of
   * the amount left and the amount sent, and the use by others has lowered it.
   */
  compare(at: number, order: number, sum: number, window: SpreadWindow): void {
    this.#first ??= { at, order, sum };
    const { limit, lengthMs, isSpread } = window;
    const filled = sum - this.#first.sum;
    const others = Math.max(OTHERS_LEAST, SPREAD_OTHERS_PART * limit);
    if (isSpread && -filled > others) this.#isShared = true;
    const sinceMs = at - this.#first.at;
    if (sinceMs >= FILL_PART * lengthMs) this.#fillPerMs = Math.max(0, filled / sinceMs);
  }

  /** An earlier attempt cost more than estimated. */
  corrected(order: number, more: number): void {
    if (this.#first !== undefined && order <= this.#first.order) this.#first.sum += more;
  }
}

/** The window that a report belongs to. */
export interface SpreadWindow {
  readonly limit: number;
  readonly lengthMs: number;
  /** Whether the amount left is spread over the time left. */
  readonly isSpread: boolean;
}
