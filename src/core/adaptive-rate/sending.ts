import { SentAttempt } from './sent-attempt.ts';

/** An attempt that is out. */
export class Sending extends SentAttempt {
  /** Tokens that were estimated. */
  readonly estimate: number;

  constructor(sent: ConstructorParameters<typeof SentAttempt>[0], estimate: number) {
    super(sent);
    this.estimate = estimate;
  }
}
