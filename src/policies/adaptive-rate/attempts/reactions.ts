import type { Reaction, SentAttempt } from './sent-attempt.ts';

/** The reactions to rejections. Attempts sent before a reaction was in force do not follow it. */
export class Reactions {
  /** How long a reaction takes to be in force where other processes send, in ms. */
  readonly reactionMs: number;
  private reaction: Reaction = { order: 0 };
  /** Until this time, attempts are sent that do not follow the last reaction yet. */
  private reactsUntil = Number.NEGATIVE_INFINITY;

  constructor(reactionMs: number) {
    this.reactionMs = reactionMs;
  }

  get last(): Reaction {
    return this.reaction;
  }

  /** Whether the attempt was sent when the last reaction was in force. */
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
