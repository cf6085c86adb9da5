/// <reference lib="esnext.disposable" preserve="true" />
import type { CircuitBreakerPolicy } from '../policies/circuit-breaker-policy.ts';
import type { CircuitExport, CircuitSnapshot, CircuitState } from '../policies/circuit-types.ts';
import type { RequestGate } from '../request/request-gate.ts';
import { checkChoice, checkInteger, checkKeys, checkNumber, wrongType } from '../util/check.ts';
import { checkReason } from './lifecycle.ts';

/**
 * Keeps a circuit open until `end()`, or the end of a block: `using isolation = circuit.isolate()`.
 */
export class Isolation {
  readonly #end: () => void;

  /** @internal */
  constructor(end: () => void) {
    this.#end = end;
  }

  /** A second end does nothing. */
  end(): void {
    this.#end();
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

/** The circuit breaker of a limiter: `limiter.circuit`. */
export class Circuit {
  readonly #policy: CircuitBreakerPolicy;
  readonly #gate: RequestGate;

  /** @internal */
  constructor(policy: CircuitBreakerPolicy, gate: RequestGate) {
    this.#policy = policy;
    this.#gate = gate;
  }

  get state(): CircuitState {
    return this.snapshot().state;
  }

  snapshot(): CircuitSnapshot {
    return this.#policy.snapshot(this.#now);
  }

  /**
   * Keeps the circuit open until you call `end()` on the returned object. Meanwhile requests fail
   * or wait, as `onOpen` says. Requests in flight go on, and their answers are counted. When the
   * last of several isolations ends, the circuit has the state that the counted failures imply.
   *
   * @param reason shown in the error, the event and the snapshot
   * @throws TypeError for a reason that is no string
   */
  isolate(reason?: string): Isolation {
    checkReason(reason);
    const end = this.#policy.isolate(reason, this.#now);
    this.#gate.changed();
    return new Isolation(() => {
      end(this.#now);
      this.#gate.changed();
    });
  }

  /**
   * The state of the circuit as plain data for JSON. Pass it to `restore` of another process, or
   * after a restart. Isolations are not part of it.
   */
  export(): CircuitExport {
    return this.#policy.breaker.export(this.#now);
  }

  /**
   * Continues from a state that `export` returned: an open circuit stays open for the rest of its
   * time, counted from now. Answers to requests in flight are not counted.
   * @throws RangeError or TypeError that names the wrong field; then nothing is changed
   */
  restore(saved: CircuitExport): void {
    checkExport(saved);
    this.#policy.restore(saved, this.#now);
    this.#gate.changed();
  }

  get #now(): number {
    return this.#gate.feedback.clock.now();
  }
}

const KEYS = ['version', 'state', 'failures', 'openMs', 'leftMs', 'recent', 'reason'] as const;

function checkExport(saved: CircuitExport): void {
  checkKeys('circuit.restore', saved, KEYS);
  const { version, state, failures, openMs, leftMs, recent, reason } = saved;
  if (version !== 1) wrongType('version', '1', version);
  checkChoice('state', state, ['closed', 'open', 'half-open']);
  checkInteger('failures', failures, 0);
  checkNumber('openMs', openMs, 0);
  checkNumber('leftMs', leftMs, 0);
  checkReason(reason);
  if (recent === undefined) return;
  checkKeys('recent', recent, ['requests', 'failures']);
  checkInteger('recent.failures', recent.failures, 0);
  checkInteger('recent.requests', recent.requests, recent.failures);
}
