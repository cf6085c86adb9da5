import type { CircuitRules } from './setup.ts';

export type Result = 'ok' | 'failed' | 'fatal' | 'ignored';

/** It was let pass before the backoff began: as a probe of an earlier one, or not. */
const PERHAPS = -1;

/** An attempt that is out. */
export interface Attempt {
  readonly at: number;
  readonly epoch: number;
  /** Of which test of the reopened gate it is the probe; 0: of none. */
  trial: number;
  generation: number;
}

/** The backoff by its definition. */
export class BackoffOracle {
  until = Number.NEGATIVE_INFINITY;
  epoch = 0;
  isUntested = false;
  #trial = 1;
  readonly #isProbing: boolean;
  readonly #backoffMs: number;

  constructor(reopen: 'probe' | 'all', backoffMs: number) {
    this.#isProbing = reopen === 'probe';
    this.#backoffMs = backoffMs;
  }

  accept(epoch: number, now: number): void {
    if (epoch < this.epoch || now < this.until || !this.isUntested) return;
    this.isUntested = false;
    this.#trial += 1;
  }

  reject(retryAfterMs: number | undefined, epoch: number, now: number): void {
    this.until = Math.max(this.until, now + (retryAfterMs ?? this.#backoffMs));
    if (epoch >= this.epoch) {
      this.epoch += 1;
      this.#trial += 1;
    }
    this.isUntested = this.#isProbing;
  }

  /** Whether nothing may be sent until a probe says more. */
  isTesting(out: Iterable<Attempt>, now: number): boolean {
    if (now < this.until || !this.isUntested) return false;
    for (const { trial } of out) if (trial === this.#trial || trial === PERHAPS) return true;
    return false;
  }

  /** What is wrong with sending now, if something is. */
  sent(attempt: Attempt, out: Iterable<Attempt>, now: number): string | undefined {
    attempt.trial = this.isUntested ? this.#trial : 0;
    if (now < this.until) {
      attempt.trial = PERHAPS;
      return `${this.until - now} ms before the backoff ends`;
    }
    if (attempt.trial === 0) return undefined;
    for (const other of out) {
      if (other.trial === attempt.trial) return 'while a probe is out';
    }
    return undefined;
  }
}

/** The circuit breaker by its definition. */
export class CircuitOracle {
  state: 'closed' | 'open' | 'half-open' = 'closed';
  generation = 0;
  readonly #options: CircuitRules;
  #failures = 0;
  #openMs = 0;
  #halfOpenAt = 0;
  /** Probes that are out. */
  probes = 0;
  #ok = 0;

  constructor(options: CircuitRules) {
    this.#options = options;
  }

  look(now: number): void {
    if (this.state === 'open' && now >= this.#halfOpenAt) this.#enter('half-open');
  }

  sent(attempt: Attempt, now: number): string | undefined {
    this.look(now);
    attempt.generation = this.generation;
    if (this.state === 'open') return 'while the circuit is open';
    if (this.state === 'closed') return undefined;
    this.probes += 1;
    const places = this.#options.halfOpenProbes - this.#ok;
    return this.probes > places ? 'as one probe too many' : undefined;
  }

  ended(generation: number | undefined, result: Result, now: number): void {
    this.look(now);
    const { consecutiveFailures, openMs } = this.#options;
    if (generation !== undefined && generation !== this.generation) return;
    if (this.state === 'closed') {
      if (result === 'ok') this.#failures = 0;
      if (result === 'failed' || result === 'fatal') this.#failures += 1;
      if (result === 'fatal' || this.#failures >= consecutiveFailures) this.#open(openMs, now);
    } else if (this.state === 'half-open' && generation !== undefined) {
      this.probes -= 1;
      if (result === 'ok') this.#ok += 1;
      if (this.#ok >= this.#options.halfOpenProbes) this.#enter('closed');
      else if (result === 'failed' || result === 'fatal') {
        this.#open(Math.min(openMs * 5, this.#openMs * 2), now);
      }
    }
  }

  #open(openMs: number, now: number): void {
    this.#enter('open');
    this.#openMs = openMs;
    this.#halfOpenAt = now + openMs;
  }

  #enter(state: CircuitOracle['state']): void {
    this.state = state;
    this.generation += 1;
    this.probes = 0;
    this.#ok = 0;
    if (state === 'closed') this.#failures = 0;
  }
}
