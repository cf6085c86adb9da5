import { HeadgateError } from '../model/errors.ts';

/** The circuit is open: the request was not sent, so that a provider in trouble gets no more of them. */
export class CircuitOpenError extends HeadgateError {
  readonly code = 'CIRCUIT_OPEN';
  /** Whole milliseconds before which asking again is of no use. */
  readonly retryAfterMs: number;
  /** Why it opened at once (quota, billing, authorisation); undefined: by failures in a row. */
  readonly reason: string | undefined;

  constructor(retryAfterMs: number, reason?: string) {
    const why = reason === undefined ? '' : ` (${reason})`;
    super(`the circuit is open${why}: ask again in ${retryAfterMs} ms`);
    this.retryAfterMs = retryAfterMs;
    this.reason = reason;
  }
}
