import type { Verdict } from 'headgate';
import { classify } from 'headgate/advanced';
import { CallTimeoutError, ConnectionError, StatusError } from './errors.ts';

/** What a proxy says of a server that is down. */
const GATEWAY_STATUSES = [502, 503, 504];
/** So many failures in a row, of all requests, are the server's. */
const IN_A_ROW = 5;
/** So many connections that fail in a row are shown as an outage, as the limiter has it. */
const SHOWN_IN_A_ROW = 3;

/**
 * Follows for how long a server has been down, for the screen and for the end of the run. What the
 * limiter does not know as an outage is judged here: a proxy that answers for a server that is down.
 */
export class OutageWatch {
  /** Whether any answer of the server itself came. */
  wasReached = false;
  #since: number | undefined = undefined;
  #failures = 0;
  #attempts = 0;
  #last = '';
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** For how long there has been no answer, in ms; 0: the last attempt had one. */
  get downForMs(): number {
    return this.#since === undefined ? 0 : this.#now() - this.#since;
  }

  /** Whether the server is taken for down. */
  get isDown(): boolean {
    return this.#failures >= SHOWN_IN_A_ROW || (this.#failures > 0 && !this.wasReached);
  }

  /** What was tried without an answer, in words. */
  get tried(): string {
    return `${this.#attempts} ${this.#attempts === 1 ? 'attempt' : 'attempts'}, the last: ${this.#last}`;
  }

  /** An answer came. */
  answered(): void {
    this.wasReached = true;
    this.#since = undefined;
    this.#failures = 0;
    this.#attempts = 0;
  }

  /** An attempt has failed. @returns what that says of the server; undefined: what the limiter says */
  failed(error: unknown): Verdict | undefined {
    // A request that takes too long may take as long again, and is paid for each time.
    if (error instanceof CallTimeoutError) return undefined;
    const isGateway = error instanceof StatusError && GATEWAY_STATUSES.includes(error.status);
    if (!isGateway && !(error instanceof ConnectionError)) {
      if (error instanceof StatusError) this.answered();
      return undefined;
    }
    this.#since ??= this.#now();
    this.#failures += 1;
    this.#attempts += 1;
    this.#last = error.message;
    // The limiter waits for a server that cannot be reached.
    if (error instanceof ConnectionError && classify(error).connection !== undefined) {
      return undefined;
    }
    return this.#failures >= IN_A_ROW ? { kind: 'overloaded', retry: true } : undefined;
  }
}
