/** An attempt that was sent: what is needed to read its answer. Amounts are in the unit of one dimension. */
export interface SentAttempt {
  readonly at: number;
  /** Attempts sent before it. */
  readonly order: number;
  /** What those cost. */
  readonly total: number;
  /** What it costs itself. */
  readonly cost: number;
  /** Whether it was sent at a rate, so that its cost is owed. */
  readonly isPaced: boolean;
}

/** A rejected attempt: of what was sent before it, what had been accepted. */
export interface RejectedAttempt {
  readonly at: number;
  readonly order: number;
  readonly accepted: number;
  readonly total: number;
}

/** A moment at which the provider had nothing left, and what it had accepted by then. */
export interface Mark {
  /** When it let somebody in again. */
  at: number;
  /** Attempts sent by then. */
  readonly order: number;
  readonly accepted: number;
  total: number;
}
