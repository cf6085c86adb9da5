import { type IsFailure, isTrouble, judgeOf, type Verdict } from '../model/feedback.ts';
import type { CircuitEvent, Emit } from '../model/policy-events.ts';
import { checkFunction } from '../util/check.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import {
  CIRCUIT_FIELDS,
  type CircuitBreakerConfig,
  type CircuitExport,
  type CircuitOpenError,
  type CircuitResult,
  type CircuitSnapshot,
  checkRatioOptions,
  type OnOpen,
} from './circuit-types.ts';
import { flag } from './option.ts';
import {
  type CompletedAttempt,
  type Policy,
  type PolicyDefinition,
  REFUSED,
  type RequestCost,
  type Time,
} from './policy.ts';

/** The circuit breaker of a limiter or stream. */
export interface CircuitBreakerOption {
  /** Stops sending after consecutive failures; `true` uses the defaults. Default `false`. */
  readonly circuitBreaker?: boolean | CircuitBreakerConfig;
}

/** A circuit breaker at a gate. While it is open, attempts are refused or wait for a probe. */
export class CircuitBreakerPolicy implements Policy<number> {
  readonly breaker: CircuitBreaker;
  readonly #onOpen: OnOpen | undefined;
  readonly #isFailure: IsFailure;
  readonly #emit: Emit;
  /** Whether the provider has refused the key since the circuit was last closed. */
  #isKeyRefused = false;

  /** @param onOpen undefined: streams wait unless the key is refused, and calls fail */
  constructor(
    breaker: CircuitBreaker,
    onOpen: OnOpen | undefined,
    isFailure: IsFailure,
    emit: Emit,
  ) {
    this.breaker = breaker;
    this.#onOpen = onOpen;
    this.#isFailure = isFailure;
    this.#emit = emit;
  }

  get nextChangeAt(): number {
    return this.breaker.nextChangeAt;
  }

  advance(now: number): void {
    this.#tellAll(this.breaker.advance(now));
  }

  wait(request: RequestCost, now: number): number {
    const error = this.breaker.check(now);
    if (error === undefined) return 0;
    if (this.#fails(request, error)) return REFUSED;
    if (this.breaker.isIsolated) return Number.POSITIVE_INFINITY;
    const leftMs = this.breaker.nextChangeAt - now;
    // Infinity: all probes are in flight, and the first one that ends changes the state.
    return Math.max(0, leftMs);
  }

  refusal(_request: RequestCost, now: number): Error {
    return this.breaker.check(now) ?? new TypeError('the circuit is not open');
  }

  /** @returns the generation of the attempt, counted from 1 */
  take(_request: RequestCost, now: number): number {
    return this.breaker.enter(now) + 1;
  }

  giveBack(charge: number, completed: CompletedAttempt, time: Time): void {
    const result = this.#resultOf(completed);
    // Most attempts succeed while the circuit is closed, and need no clock.
    if (result === 'ok' && this.breaker.isClosedStill) return;
    this.#tellAll(this.breaker.record(charge - 1, result, time.now()));
  }

  /** The error of a newcomer that may not wait for its turn; undefined if it may. */
  refusalOnArrival(newcomer: Pick<RequestCost, 'isCall'>, time: Time): Error | undefined {
    return this.breaker.isClosed ? undefined : this.refusalInQueue(newcomer, time.now());
  }

  /**
   * The error of a waiting request that must fail because the circuit is open; undefined if it may
   * wait on.
   */
  refusalInQueue(waiter: Pick<RequestCost, 'isCall'>, now: number): Error | undefined {
    // Most waiters wait on. No error is made for them.
    if (!this.#mayFail(waiter)) return undefined;
    const error = this.breaker.check(now);
    return error !== undefined && this.#fails(waiter, error) ? error : undefined;
  }

  /** Records the answer to an attempt that did not pass the gate. */
  recordVerdict(verdict: Verdict, now: number): void {
    this.#tellAll(this.breaker.recordUnasked(this.#resultOf({ isSent: true, verdict }), now));
  }

  snapshot(now: number): CircuitSnapshot {
    return this.breaker.snapshot(now);
  }

  /** @returns a function that ends it */
  isolate(reason: string | undefined, now: number): (now: number) => void {
    const end = this.breaker.isolate(reason, now);
    this.advance(now);
    return (at) => this.#tellAll(end(at));
  }

  restore(saved: CircuitExport, now: number): void {
    this.breaker.restore(saved, now);
    this.advance(now);
  }

  /** Whether a request fails for some reason of an open circuit. */
  #mayFail({ isCall = false }: Pick<RequestCost, 'isCall'>): boolean {
    return this.#onOpen === undefined ? isCall || this.#isKeyRefused : this.#onOpen === 'fail';
  }

  /** Whether a request fails while the circuit is open. Time does not correct a refused key. */
  #fails({ isCall = false }: Pick<RequestCost, 'isCall'>, { reason }: CircuitOpenError): boolean {
    if (this.#onOpen !== undefined) return this.#onOpen === 'fail';
    return isCall || (this.#isKeyRefused && reason === UNAUTHORISED);
  }

  /** A request that was cancelled, or rejected for its rate or its content, does not count. */
  #resultOf({ isSent, verdict }: Pick<CompletedAttempt, 'isSent' | 'verdict'>): CircuitResult {
    if (!isSent || verdict === undefined) return 'ignored';
    if (verdict.kind === 'ok') return 'ok';
    if (isRefusalOfKey(verdict)) this.#isKeyRefused = true;
    if (verdict.outage !== undefined) return { fatal: verdict.outage };
    return this.#isFailure(verdict) ? 'failed' : 'ignored';
  }

  #tellAll(facts: readonly CircuitEvent[]): void {
    for (const fact of facts) {
      if (fact.kind === 'circuitClosed') this.#isKeyRefused = false;
      this.#emit(fact);
    }
  }
}

/** The reason of a refused key, and of a request that the key may not make. */
const UNAUTHORISED = 'authorisation';

/** A 403 may concern only its request. Google answers 400 to a wrong key. */
function isRefusalOfKey({ outage, status }: Verdict): boolean {
  return outage === UNAUTHORISED && status !== undefined && status !== 403;
}

export const CIRCUIT_BREAKER: PolicyDefinition<
  CircuitBreakerOption,
  CircuitBreakerPolicy | undefined,
  CircuitBreakerOption,
  'circuit'
> = {
  kind: 'circuitBreaker',
  options: {
    circuitBreaker: {
      fields: CIRCUIT_FIELDS,
      alone: flag(false, 'the circuit breaker, with defaults'),
    },
  },

  check({ circuitBreaker: options }, isWhole, nameOf) {
    if (!isWhole || typeof options !== 'object') return;
    checkRatioOptions(options, (path) => nameOf(`circuitBreaker.${path}`));
  },

  create({ circuitBreaker: options }, { isFailure, emit }) {
    if (options === undefined || options === false) return undefined;
    return circuitOf(options === true ? {} : options, isFailure, emit);
  },

  isAtRest(circuit, now) {
    const { state, failures } = circuit.snapshot(now);
    return state === 'closed' && failures === 0;
  },

  metrics: {
    circuit: {
      name: 'headgate.circuit.state',
      unit: '1',
      meaning: '1: the circuit breaker is in this state',
      by: 'state',
      together: 'greatest',
    },
  },

  measure: (circuit, now) => ({
    circuit: { closed: 0, open: 0, 'half-open': 0, [circuit.snapshot(now).state]: 1 },
  }),
};

/** @throws RangeError or TypeError that names a wrong option */
export function circuitOf(
  options: CircuitBreakerConfig,
  isFailure: IsFailure | undefined,
  emit: Emit,
): CircuitBreakerPolicy {
  if (isFailure !== undefined) checkFunction('isFailure', isFailure);
  const judge = judgeOf(isFailure, isTrouble);
  return new CircuitBreakerPolicy(new CircuitBreaker(options), options.onOpen, judge, emit);
}
