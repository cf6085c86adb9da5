/** The learner's reaction to a rejection. */
export interface Reaction {
  /** Attempts of a lower order were sent before the reaction was in force. */
  order: number;
}

/** A sent attempt, with its result so far. */
export class SentAttempt {
  /** When it was sent, in ms. Conclusions from its answer are dated by this. */
  readonly at: number;
  /** How many attempts were sent before it. */
  readonly order: number;
  /** How many attempts were in flight when it was sent, without itself. */
  readonly others: number;
  /** The pace when it was sent, per ms; Infinity if there was none. */
  readonly pacePerMs: number;
  /** Whether it had to wait for the pace. */
  readonly isPaced: boolean;
  /**
   * Whether it was sent before the pace permitted it, from capacity saved in a time without demand.
   */
  readonly isSaved: boolean;
  /** The time without demand before it, in ms. */
  readonly idleMs: number;
  /** How much later than planned it was sent while the provider rejected everything, in ms. */
  readonly lateMs: number;
  /** The estimated tokens. */
  readonly estimate: number;
  readonly charges: Charges;
  /** `withdrawn`: it ended without an answer, or was never sent. */
  outcome: 'unknown' | 'accepted' | 'rejected' | 'withdrawn' = 'unknown';
  /**
   * The number of attempts without a known result when it was sent, including itself. It is
   * recorded then: when many results return at once, the last one would find no other unknown.
   */
  unknown = 0;
  /** Whether an answer has shown that it was accepted, and not silence alone. */
  isAnswered = false;
  /** Whether it is part of a trial, and no evidence for the rate. */
  isTrial = false;
  /** Whether it was sent later than the pace permitted, since nothing waited to be sent. */
  lacksDemand = false;
  /** For a rejected attempt: whether a reported limit explains the rejection. */
  isExplained = false;
  /**
   * For a rejected attempt: the rate of the whole limit, per ms, if its report says that nothing is
   * left of it; else 0.
   */
  usedUpPerMs = 0;
  /**
   * For a rejected attempt: whether the rejection gives no details, and no answer has given any.
   */
  isBare = false;
  /** For a rejected attempt: whether a cap may have caused the rejection, by its details. */
  mayBeByCap = false;
  /**
   * For a rejected attempt: whether the rejection has fewer details than rejections by the limit
   * have.
   */
  isForeign = false;
  /** For a rejected attempt: whether it is foreign, and rejections by the limit are known. */
  isOfOtherKind = false;
  /** For a rejected attempt: the earliest end of the named wait; -Infinity if none is named. */
  namedUntil = Number.NEGATIVE_INFINITY;
  /** For a rejected attempt: the last reaction when its rejection was read. */
  reaction: Reaction = { order: 0 };

  constructor(sent: {
    readonly at: number;
    readonly order: number;
    readonly others: number;
    readonly pacePerMs: number;
    readonly isPaced: boolean;
    readonly isSaved: boolean;
    readonly idleMs: number;
    readonly lateMs?: number;
    readonly estimate?: number;
    readonly charges?: Charges;
  }) {
    this.at = sent.at;
    this.order = sent.order;
    this.others = sent.others;
    this.pacePerMs = sent.pacePerMs;
    this.isPaced = sent.isPaced;
    this.isSaved = sent.isSaved;
    this.idleMs = sent.idleMs;
    this.lateMs = sent.lateMs ?? 0;
    this.estimate = sent.estimate ?? 0;
    this.charges = sent.charges ?? [];
  }
}

/** The charges of an attempt in requests, tokens, input tokens and output tokens. */
export type Charges = readonly (UnitCharge | undefined)[];

/** The charge of an attempt in one unit. */
export interface UnitCharge {
  readonly at: number;
  readonly order: number;
  /** The sum of the costs sent before it. */
  readonly total: number;
  readonly cost: number;
  /** Whether it was paced, so that its cost is a debt. */
  readonly isOwed: boolean;
}
