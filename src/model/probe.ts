import { checkMethods } from './check.ts';
import type { ChunkReason } from './chunk.ts';
import type { CoreFact } from './facts.ts';
import type { FeedbackKind } from './feedback.ts';
import type { GateKind, SettleOutcome } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/**
 * Facts out: what happens to requests, told to whoever wants to count or trace it.
 * All methods are optional and must not be slow; one that throws is contained, warned of once,
 * and disturbs no request.
 */
export interface Probe {
  /** A request came to its first gate. */
  arrived?(ticket: Ticket): void;
  /** A request has to wait at a gate. */
  queued?(ticket: Ticket, gate: GateKind): void;
  /** A request may pass a gate, after `waitMs` (0: at once). */
  admitted?(ticket: Ticket, gate: GateKind, waitMs: number, rounds: number): void;
  /** The API is called for the request, for the n-th time. */
  attemptStarted?(ticket: Ticket, attempt: number): void;
  /** A call ended. `error` is what it failed with, if it did. One that is abandoned ends with `settled`. */
  attemptEnded?(ticket: Ticket, attempt: number, kind: FeedbackKind, error?: unknown): void;
  /** The backoff gate was closed, or its closing extended: `waitMs` from now. */
  backoff?(waitMs: number, source: 'retry_after' | 'computed'): void;
  /** A limit has denied a request, or a limit, the pace or the circuit breaker has changed. */
  changed?(fact: CoreFact): void;
  /** A chunk of requests was closed. */
  chunkClosed?(items: number, bytes: number, reason: ChunkReason): void;
  /** A request has ended and its leases are given back. */
  settled?(ticket: Ticket, outcome: SettleOutcome): void;
}

const METHODS = [
  'arrived',
  'queued',
  'admitted',
  'attemptStarted',
  'attemptEnded',
  'backoff',
  'changed',
  'chunkClosed',
  'settled',
] as const satisfies readonly (keyof Probe)[];

const containedBy = new WeakMap<Probe, Probe>();

/** @throws TypeError for what is no probe */
export function checkProbe(probe: unknown): void {
  if (probe === undefined) return;
  checkMethods('probe', probe, []);
  const methods = METHODS.filter((method) => (probe as Probe)[method] !== undefined);
  checkMethods('probe', probe, methods);
}

/** A probe that never throws: the first error of the one given is printed as a warning. */
export function contain(probe: Probe | undefined): Probe | undefined {
  if (probe === undefined) return undefined;
  const known = containedBy.get(probe);
  if (known !== undefined) return known;
  let warned = false;
  const safe: Partial<Record<keyof Probe, (...facts: unknown[]) => void>> = {};
  for (const method of METHODS) {
    if (probe[method] === undefined) continue;
    safe[method] = (...facts) => {
      try {
        Reflect.apply(probe[method] as () => void, probe, facts);
      } catch (error) {
        if (warned) return;
        warned = true;
        process.emitWarning(`a headgate probe threw in \`${method}\`: ${String(error)}`);
      }
    };
  }
  containedBy.set(probe, safe);
  containedBy.set(safe, safe);
  return safe;
}
