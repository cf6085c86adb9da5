import { HeadgateError } from '../model/errors.ts';

/** The circuit is open: the request was not sent, so that a provider in trouble gets no more of them. */
export class CircuitOpenError extends HeadgateError {
  readonly code = 'CIRCUIT_OPEN';
  /** Whole milliseconds before which asking again is of no use; Infinity while it is isolated. */
  readonly retryAfterMs: number;
  /** Why it opened at once (quota, billing, authorisation), or was isolated; undefined: by failures. */
  readonly reason: string | undefined;

  constructor(retryAfterMs: number, reason?: string) {
    const why = reason === undefined ? '' : ` (${reason})`;
    const when =
      retryAfterMs === Number.POSITIVE_INFINITY
        ? 'until its isolation ends'
        : `ask again in ${retryAfterMs} ms`;
    super(`the circuit is open${why}: ${when}`);
    this.retryAfterMs = retryAfterMs;
    this.reason = reason;
  }
}
