import { HeadgateError } from '../model/errors.ts';

/** The circuit is open: the request was not sent, to spare a failing provider. */
export class CircuitOpenError extends HeadgateError {
  readonly code = 'CIRCUIT_OPEN';
  /**
   * The time before which another attempt is useless, in whole ms; Infinity while it is isolated.
   */
  readonly retryAfterMs: number;
  /**
   * Why it opened at once (quota, billing, authorisation) or was isolated; undefined if failures
   * opened it.
   */
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
