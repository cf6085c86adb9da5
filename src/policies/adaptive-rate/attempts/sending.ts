import { SentAttempt } from './sent-attempt.ts';

/** An attempt in flight. */
export class Sending extends SentAttempt {
  /** The estimated tokens. */
  readonly estimate: number;

  constructor(sent: ConstructorParameters<typeof SentAttempt>[0], estimate: number) {
    super(sent);
    this.estimate = estimate;
  }
}
