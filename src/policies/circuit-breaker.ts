import type { CircuitEvent } from '../model/policy-events.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import {
  type CircuitBreakerOptions,
  type CircuitExport,
  CircuitOpenError,
  type CircuitResult,
  type CircuitSettings,
  type CircuitSnapshot,
  type CircuitState,
  circuitSettings,
} from './circuit-types.ts';
import { OutcomeWindow } from './rolling-window.ts';

/** The upper bound of `openMs` after failed probes, as a multiple. */
const MAX_OPEN_FACTOR = 5;

/** A state in which nothing is sent, until it is ended from outside. */
interface Isolation {
  readonly reason: string | undefined;
}

const NO_FACTS: readonly CircuitEvent[] = [];

/**
 * Stops sending after consecutive failures, or a share of failures among the last requests, and
 * tries again with probes.
 *
 * An isolation overrides this: while there is one nothing is sent, and the state below continues.
 *
 * Each transition starts a generation. An attempt counts for the generation in which it was
 * entered: an answer of an earlier one is ignored. No transition is lost: one that time makes is
 * returned by the next `advance` or `record`, whichever method noticed it.
 */
export class CircuitBreaker {
  readonly #settings: CircuitSettings;
  /** The results of the last requests, if `failureRatio` is given. */
  readonly #recent: OutcomeWindow | undefined;
  /** The isolations; there may be several at once. */
  readonly #isolations: Isolation[] = [];
  /** The last of them, in a field: V8 reads index -1 of an empty array through its runtime. */
  #isolation: Isolation | undefined = undefined;
  #state: CircuitState = 'closed';
  #generation = 0;
  #failures = 0;
  #openMs: number;
  #halfOpenAt = Number.POSITIVE_INFINITY;
  #reason: string | undefined;
  #probesOut = 0;
  #probesOk = 0;
  #untold: CircuitEvent[] = [];

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: CircuitBreakerOptions = {}) {
    this.#settings = circuitSettings(options);
    const { failureRatio, windowMs, openMs } = this.#settings;
    this.#recent = failureRatio === undefined ? undefined : new OutcomeWindow(windowMs);
    this.#openMs = openMs;
  }

  /** When time alone changes the state; Infinity if it does not. */
  get nextChangeAt(): number {
    return this.#halfOpenAt;
  }

  /** Whether every attempt may be sent, whatever the time. */
  get isClosed(): boolean {
    return this.#state === 'closed' && this.#isolation === undefined;
  }

  /** Whether it is isolated. */
  get isIsolated(): boolean {
    return this.#isolation !== undefined;
  }

  /**
   * The error of an attempt that may not be sent now; undefined if it may.
   *
   * While all probes are in flight the time of closing is unknown: the error then names the
   * configured `openMs`.
   */
  check(now: number): CircuitOpenError | undefined {
    this.#wake(now);
    const isolation = this.#isolation;
    if (isolation !== undefined) {
      return new CircuitOpenError(Number.POSITIVE_INFINITY, isolation.reason ?? 'isolated');
    }
    if (this.#state === 'closed') return undefined;
    if (this.#state === 'open') return this.#refusal(this.#halfOpenAt - now);
    const { halfOpenProbes, openMs } = this.#settings;
    const places = halfOpenProbes - this.#probesOk - this.#probesOut;
    return places > 0 ? undefined : this.#refusal(openMs);
  }

  /**
   * Enters an attempt. Each must be recorded, however it ends: it may hold a probe's place.
   * @returns the generation to record it with
   * @throws CircuitOpenError if `check` returns one
   */
  enter(now: number): number {
    const refusal = this.check(now);
    if (refusal !== undefined) throw refusal;
    if (this.#state === 'half-open') this.#probesOut += 1;
    return this.#generation;
  }

  /**
   * An attempt of `generation` has ended. Returns the transitions that were not returned before.
   */
  record(generation: number, result: CircuitResult, now: number): readonly CircuitEvent[] {
    this.#wake(now);
    if (generation === this.#generation) {
      if (this.#state === 'closed') this.#count(result, now);
      else if (this.#probesOut > 0) this.#judge(result, now);
    }
    return this.#emit();
  }

  /**
   * Whether a successful attempt changes nothing, because no failure counts and no transition is
   * due.
   */
  get isClosedStill(): boolean {
    return this.#state === 'closed' && this.#failures === 0 && this.#recent === undefined;
  }

  /** Records an attempt that was not entered. It counts while the circuit is closed. */
  recordUnasked(result: CircuitResult, now: number): readonly CircuitEvent[] {
    this.#wake(now);
    if (this.#state === 'closed') this.#count(result, now);
    return this.#emit();
  }

  /** Makes the transitions that are due. Returns those that were not returned before. */
  advance(now: number): readonly CircuitEvent[] {
    this.#wake(now);
    return this.#emit();
  }

  snapshot(now: number): CircuitSnapshot {
    this.#wake(now);
    const isolation = this.#isolation;
    const leftMs = this.#state === 'open' ? Math.ceil(this.#halfOpenAt - now) : 0;
    return {
      state: isolation === undefined ? this.#state : 'open',
      isIsolated: isolation !== undefined,
      failures: this.#failures,
      recent: this.#recent?.recent(now),
      retryAfterMs: isolation === undefined ? leftMs : Number.POSITIVE_INFINITY,
      probes: this.#probesOut,
      reason: isolation === undefined ? this.#reason : isolation.reason,
    };
  }

  /**
   * Lets nothing pass until the returned function is called. Only the first isolation and the last
   * end are events.
   */
  isolate(reason: string | undefined, now: number): (now: number) => readonly CircuitEvent[] {
    this.#wake(now);
    const isolation = { reason };
    if (!this.isIsolated) this.#untold.push({ kind: 'circuitIsolated', at: now, reason });
    this.#isolations.push(isolation);
    this.#isolation = isolation;
    return (at) => {
      const place = this.#isolations.indexOf(isolation);
      if (place < 0) return NO_FACTS;
      this.#isolations.splice(place, 1);
      this.#isolation = this.#isolations.at(-1);
      this.#wake(at);
      if (!this.isIsolated) this.#untold.push({ kind: 'circuitIsolationEnded', at });
      return this.#emit();
    };
  }

  /** The state as plain data. */
  export(now: number): CircuitExport {
    this.#wake(now);
    return withoutUndefined({
      version: 1,
      state: this.#state,
      failures: this.#failures,
      openMs: this.#openMs,
      leftMs: this.#state === 'open' ? Math.max(0, this.#halfOpenAt - now) : 0,
      recent: this.#recent?.recent(now),
      reason: this.#reason,
    });
  }

  /** Continues from a checked export. Attempts in flight are ignored. */
  restore({ state, failures, openMs, leftMs, recent, reason }: CircuitExport, now: number): void {
    this.#wake(now);
    this.#failures = failures;
    if (state === 'open') this.#open(reason, leftMs, now);
    else this.#become(state, now);
    this.#openMs = openMs;
    this.#reason = reason;
    if (recent !== undefined) this.#recent?.add(recent.requests, recent.failures, now);
  }

  #count(result: CircuitResult, now: number): void {
    if (result === 'ignored') return;
    this.#recent?.add(1, result === 'ok' ? 0 : 1, now);
    if (result === 'ok') this.#failures = 0;
    else {
      this.#failures += 1;
      const { consecutiveFailures, openMs } = this.#settings;
      const enough = this.#failures >= consecutiveFailures || this.#isRatioReached(now);
      if (enough || typeof result === 'object') this.#open(reasonOf(result), openMs, now);
    }
  }

  #isRatioReached(now: number): boolean {
    const { failureRatio, leastRequests } = this.#settings;
    if (this.#recent === undefined || failureRatio === undefined) return false;
    const { requests, failures } = this.#recent.recent(now);
    return requests >= leastRequests && failures >= failureRatio * requests;
  }

  #judge(result: CircuitResult, now: number): void {
    this.#probesOut -= 1;
    if (result === 'ok') {
      this.#failures = 0;
      this.#probesOk += 1;
      if (this.#probesOk < this.#settings.halfOpenProbes) return;
      this.#become('closed', now);
      this.#reason = undefined;
    } else if (result !== 'ignored') {
      this.#failures += 1;
      const longestMs = this.#settings.openMs * MAX_OPEN_FACTOR;
      this.#open(reasonOf(result), Math.min(longestMs, this.#openMs * 2), now);
    }
  }

  #open(reason: string | undefined, openMs: number, at: number): void {
    this.#begin('open');
    this.#openMs = openMs;
    this.#halfOpenAt = at + openMs;
    this.#reason = reason;
    this.#untold.push({ kind: 'circuitOpened', at, openMs, failures: this.#failures, reason });
  }

  #wake(now: number): void {
    if (now >= this.#halfOpenAt) this.#become('half-open', this.#halfOpenAt);
  }

  #become(state: 'half-open' | 'closed', at: number): void {
    const kind = state === 'closed' ? 'circuitClosed' : 'circuitHalfOpen';
    if (state !== this.#state) this.#untold.push({ kind, at });
    this.#begin(state);
  }

  /** Starts a generation. */
  #begin(state: CircuitState): void {
    this.#state = state;
    this.#generation += 1;
    this.#recent?.clear();
    this.#halfOpenAt = Number.POSITIVE_INFINITY;
    this.#probesOut = 0;
    this.#probesOk = 0;
  }

  #refusal(retryAfterMs: number): CircuitOpenError {
    return new CircuitOpenError(Math.ceil(retryAfterMs), this.#reason);
  }

  #emit(): readonly CircuitEvent[] {
    if (this.#untold.length === 0) return NO_FACTS;
    const facts = this.#untold;
    this.#untold = [];
    return facts;
  }
}

function reasonOf(result: CircuitResult): string | undefined {
  return typeof result === 'object' ? result.fatal : undefined;
}
