import type { Reaction, SentAttempt } from './sent-attempt.ts';

/** The reactions to rejections. An attempt that was sent before one was in force does not know of it. */
export class Reactions {
  /** How long it takes until a reaction is in force, where others send. */
  readonly reactionMs: number;
  private reaction: Reaction = { order: 0 };
  /** Attempts that are sent until then do not know of it yet. */
  private reactsUntil = Number.NEGATIVE_INFINITY;

  constructor(reactionMs: number) {
    this.reactionMs = reactionMs;
  }

  get last(): Reaction {
    return this.reaction;
  }

  /** Whether it was sent when the last reaction was in force. */
  isLater({ order }: SentAttempt): boolean {
    return order >= this.reaction.order;
  }

  /** @param sent how many attempts were sent so far */
  react(sent: number, now: number): void {
    this.reaction = { order: sent };
    this.reactsUntil = now + this.reactionMs;
  }

  sent({ at, order }: SentAttempt): void {
    if (at < this.reactsUntil) this.reaction.order = order + 1;
  }

  /** The attempt of this order was sent before the last reaction. */
  covers(order: number): void {
    this.reaction.order = Math.max(this.reaction.order, order + 1);
  }
}
