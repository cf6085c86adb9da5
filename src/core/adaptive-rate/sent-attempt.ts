/** An attempt that was sent, and what has become of it so far. */
export class SentAttempt {
  /** When it was sent, in ms: all that follows from its answer is dated by that. */
  readonly at: number;
  /** Attempts sent before it. */
  readonly order: number;
  /** Attempts in flight when it was sent, without itself. */
  readonly others: number;
  /** The pace when it was sent, per ms; Infinity: there was none. */
  readonly pacePerMs: number;
  /** Whether it had to wait for the pace. */
  readonly isPaced: boolean;
  /** Whether it had to wait for nothing: it was sent from what was saved without demand. */
  readonly isSaved: boolean;
  /** How long nobody asked for anything before it, in ms. */
  readonly idleMs: number;
  /** What it costs of each unit, and how much of these costs was sent before it. */
  readonly tokens: UnitCharge | undefined;
  readonly requests: UnitCharge | undefined;
  /** `withdrawn`: it ended without an answer, or was never sent. */
  outcome: 'unknown' | 'accepted' | 'rejected' | 'withdrawn' = 'unknown';
  /** Of one that was rejected: whether the limit that it was told explains that. */
  isExplained = false;
  /** Of one that was rejected: whether it tells less than rejections of the limit do. */
  isForeign = false;
  /** Of one that was rejected: attempts sent by the time its rejection was reacted to. */
  reactedAt = 0;

  constructor(sent: {
    readonly at: number;
    readonly order: number;
    readonly others: number;
    readonly pacePerMs: number;
    readonly isPaced: boolean;
    readonly isSaved: boolean;
    readonly idleMs: number;
    readonly requests?: UnitCharge | undefined;
    readonly tokens?: UnitCharge | undefined;
  }) {
    this.at = sent.at;
    this.order = sent.order;
    this.others = sent.others;
    this.pacePerMs = sent.pacePerMs;
    this.isPaced = sent.isPaced;
    this.isSaved = sent.isSaved;
    this.idleMs = sent.idleMs;
    this.requests = sent.requests;
    this.tokens = sent.tokens;
  }
}

/** What an attempt was charged in one unit, requests or tokens. */
export interface UnitCharge {
  readonly at: number;
  readonly order: number;
  /** What was sent before it. */
  readonly total: number;
  readonly cost: number;
  /** Whether it was paced, so that its cost is owed. */
  readonly isOwed: boolean;
}
