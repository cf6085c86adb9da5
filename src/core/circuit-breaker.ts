import { checkInteger, checkNumber } from '../model/check.ts';
import type { CircuitFact } from '../model/facts.ts';
import type { CircuitResult, CircuitSnapshot, CircuitState } from './circuit-facts.ts';
import { CircuitOpenError } from './circuit-open-error.ts';

/** Failures in a row that open the circuit (seed: 004). */
export const DEFAULT_CONSECUTIVE_FAILURES = 10;
/** How long it stays open at first (seed: 004). */
export const DEFAULT_OPEN_MS = 30_000;
/** Probes that have to go well to close it (seed: 004). */
export const DEFAULT_HALF_OPEN_PROBES = 1;
/** The longest that failed probes make of `openMs`, as a multiple (seed: 004). */
const MAX_OPEN_FACTOR = 5;

/** @see CircuitBreaker */
export interface CircuitBreakerOptions {
  /** Failures in a row that open the circuit, an integer >= 1. Default 10 (seed: 004). */
  readonly consecutiveFailures?: number;
  /** How long it stays open, in milliseconds, a number >= 0. Default 30,000 (seed: 004). */
  readonly openMs?: number;
  /**
   * Probes that have to go well to close it, an integer >= 1; as many may be out at once.
   * Default 1 (seed: 004).
   */
  readonly halfOpenProbes?: number;
}

const NO_FACTS: readonly CircuitFact[] = [];

/**
 * Stops sending after many failures in a row, and tries again with probes.
 *
 * Each transition starts a generation. An attempt counts for the generation it was entered in:
 * what comes back from an earlier one says nothing of the present. No transition is lost: the one
 * that time makes is told by the next `advance` or `record`, whichever method met it.
 */
export class CircuitBreaker {
  private readonly consecutiveFailures: number;
  private readonly baseOpenMs: number;
  private readonly halfOpenProbes: number;
  private state: CircuitState = 'closed';
  private generation = 0;
  private failures = 0;
  private openMs: number;
  private halfOpenAt = Number.POSITIVE_INFINITY;
  private reason: string | undefined;
  private probesOut = 0;
  private probesOk = 0;
  private untold: CircuitFact[] = [];

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: CircuitBreakerOptions = {}) {
    const { consecutiveFailures = DEFAULT_CONSECUTIVE_FAILURES } = options;
    const { openMs = DEFAULT_OPEN_MS, halfOpenProbes = DEFAULT_HALF_OPEN_PROBES } = options;
    this.consecutiveFailures = checkInteger('consecutiveFailures', consecutiveFailures, 1);
    this.baseOpenMs = checkNumber('openMs', openMs, 0);
    this.halfOpenProbes = checkInteger('halfOpenProbes', halfOpenProbes, 1);
    this.openMs = this.baseOpenMs;
  }

  /** When time alone changes the state; Infinity: it does not. */
  get nextChangeAt(): number {
    return this.halfOpenAt;
  }

  /** Whether every attempt may be sent, whatever the time. */
  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /**
   * Whether an attempt may be sent now: undefined if so.
   *
   * While all probes are out nobody knows when the circuit will close: the error then names the
   * configured `openMs`.
   */
  check(now: number): CircuitOpenError | undefined {
    this.wake(now);
    if (this.state === 'closed') return undefined;
    if (this.state === 'open') return this.refusal(this.halfOpenAt - now);
    const places = this.halfOpenProbes - this.probesOk - this.probesOut;
    return places > 0 ? undefined : this.refusal(this.baseOpenMs);
  }

  /**
   * An attempt is sent. Every one has to be recorded, however it ends: it may hold a probe's place.
   * @returns the generation to record it with
   * @throws CircuitOpenError if `check` returns one
   */
  enter(now: number): number {
    const refusal = this.check(now);
    if (refusal !== undefined) throw refusal;
    if (this.state === 'half-open') this.probesOut += 1;
    return this.generation;
  }

  /** An attempt of `generation` has ended. Returns the transitions that nobody was told of yet. */
  record(generation: number, result: CircuitResult, now: number): readonly CircuitFact[] {
    this.wake(now);
    if (generation === this.generation) {
      if (this.state === 'closed') this.count(result, now);
      else if (this.probesOut > 0) this.judge(result, now);
    }
    return this.tell();
  }

  /** Whether an attempt that went well changes nothing: no failure counts, and no time will. */
  isClosedStill(generation: number): boolean {
    return this.state === 'closed' && this.failures === 0 && generation === this.generation;
  }

  /** The same for an attempt that was never entered. It counts while the circuit is closed. */
  recordUnasked(result: CircuitResult, now: number): readonly CircuitFact[] {
    this.wake(now);
    if (this.state === 'closed') this.count(result, now);
    return this.tell();
  }

  /** Does what is due by now. Returns the transitions that nobody was told of yet. */
  advance(now: number): readonly CircuitFact[] {
    this.wake(now);
    return this.tell();
  }

  snapshot(now: number): CircuitSnapshot {
    this.wake(now);
    return {
      state: this.state,
      failures: this.failures,
      retryAfterMs: this.state === 'open' ? Math.ceil(this.halfOpenAt - now) : 0,
      probes: this.probesOut,
      reason: this.reason,
    };
  }

  private count(result: CircuitResult, now: number): void {
    if (result === 'ok') this.failures = 0;
    else if (result !== 'ignored') {
      this.failures += 1;
      const enough = this.failures >= this.consecutiveFailures;
      if (enough || typeof result === 'object') this.open(result, this.baseOpenMs, now);
    }
  }

  private judge(result: CircuitResult, now: number): void {
    this.probesOut -= 1;
    if (result === 'ok') {
      this.failures = 0;
      this.probesOk += 1;
      if (this.probesOk >= this.halfOpenProbes) this.close(now);
    } else if (result !== 'ignored') {
      this.failures += 1;
      const longestMs = this.baseOpenMs * MAX_OPEN_FACTOR;
      this.open(result, Math.min(longestMs, this.openMs * 2), now);
    }
  }

  private open(result: CircuitResult, openMs: number, at: number): void {
    this.enterState('open');
    this.openMs = openMs;
    this.halfOpenAt = at + openMs;
    const reason = typeof result === 'object' ? result.fatal : undefined;
    this.reason = reason;
    this.untold.push({ kind: 'circuitOpened', at, openMs, failures: this.failures, reason });
  }

  private wake(now: number): void {
    if (now < this.halfOpenAt) return;
    const at = this.halfOpenAt;
    this.enterState('half-open');
    this.untold.push({ kind: 'circuitHalfOpen', at });
  }

  private close(at: number): void {
    this.enterState('closed');
    this.reason = undefined;
    this.untold.push({ kind: 'circuitClosed', at });
  }

  private enterState(state: CircuitState): void {
    this.state = state;
    this.generation += 1;
    this.halfOpenAt = Number.POSITIVE_INFINITY;
    this.probesOut = 0;
    this.probesOk = 0;
  }

  private refusal(retryAfterMs: number): CircuitOpenError {
    return new CircuitOpenError(Math.ceil(retryAfterMs), this.reason);
  }

  private tell(): readonly CircuitFact[] {
    if (this.untold.length === 0) return NO_FACTS;
    const facts = this.untold;
    this.untold = [];
    return facts;
  }
}
