/// <reference lib="esnext.disposable" preserve="true" />
import type { CircuitCore } from '../core/circuit-core.ts';
import type { CircuitExport, CircuitSnapshot, CircuitState } from '../core/circuit-facts.ts';
import { checkChoice, checkInteger, checkKeys, checkNumber, show } from '../model/check.ts';
import type { RequestGate } from '../request/request-gate.ts';
import { checkReason } from './close-options.ts';

/** Keeps a circuit open until `end()`, or the end of a block: `using isolation = circuit.isolate()`. */
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
  readonly #core: CircuitCore;
  readonly #gate: RequestGate;

  /** @internal */
  constructor(core: CircuitCore, gate: RequestGate) {
    this.#core = core;
    this.#gate = gate;
  }

  get state(): CircuitState {
    return this.snapshot().state;
  }

  snapshot(): CircuitSnapshot {
    return this.#core.snapshot(this.#now);
  }

  /**
   * Lets nothing pass until what is returned ends: requests fail or wait, as `onOpen` says. What is in
   * flight goes on, and what its answers say is counted. After the last of several isolations the
   * circuit is as the failures have it.
   *
   * @param reason shown in the error, the event and the snapshot
   * @throws TypeError for a reason that is no string
   */
  isolate(reason?: string): Isolation {
    checkReason(reason);
    const end = this.#core.isolate(reason, this.#now);
    this.#gate.changed();
    return new Isolation(() => {
      end(this.#now);
      this.#gate.changed();
    });
  }

  /**
   * What is known of the provider, as plain data that JSON keeps: give it to `restore` of another
   * process, or after a restart. Isolations are not part of it.
   */
  export(): CircuitExport {
    return this.#core.breaker.export(this.#now);
  }

  /**
   * Goes on from what `export` has returned: an open circuit stays open for the rest of its time,
   * counted from now. What is in flight says nothing any more.
   * @throws RangeError or TypeError that names what is wrong; nothing is changed then
   */
  restore(saved: CircuitExport): void {
    checkExport(saved);
    this.#core.restore(saved, this.#now);
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
  if (version !== 1) throw new TypeError(`\`version\` must be 1, got ${show(version)}`);
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
