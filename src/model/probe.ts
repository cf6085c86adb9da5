import { checkMethods } from './check.ts';
import type { Chunk, ChunkReason } from './chunk.ts';
import type { CoreFact } from './facts.ts';
import type { FeedbackKind, Mode } from './feedback.ts';
import { Once } from './once.ts';
import type { GateKind, SettleOutcome } from './outcome.ts';
import { print } from './print.ts';
import type { Reading } from './reading.ts';
import type { SizedKind } from './sized-kind.ts';
import type { Ticket } from './ticket.ts';

/** What a backoff has changed. */
export interface BackoffChange {
  /** How much later than before the gate opens, in ms; 0: no later. */
  readonly addedMs: number;
}

/** What more is known of a part of a wait. */
export interface WaitDetail {
  /** The named rate limit that bound, if one did. */
  readonly limit: string | undefined;
  /** How long ago this part ended, in ms: the request waited on for something else. */
  readonly endedMsAgo: number;
}

/** A chunk that was closed, and where its items came from. */
export interface ClosedChunk {
  readonly chunk: Chunk<unknown>;
  /** How long it was open, in ms. */
  readonly openMs: number;
  /** What `around` said as its items came; the same again is said once. */
  readonly arounds: readonly unknown[];
}

/**
 * Facts out: what happens to requests, told to whoever wants to count or trace it.
 * All methods are optional and must not be slow; one that throws is contained, warned of once,
 * and disturbs no request.
 */
export interface Probe {
  /** A request came to its first gate. `feedback` has the mode, where one is known. */
  arrived?(ticket: Ticket, feedback?: { readonly mode: Mode }): void;
  /** A request has to wait at a gate, or for the delay between two attempts (`retry`). */
  queued?(ticket: Ticket, gate: GateKind): void;
  /**
   * A request may pass a gate, after `waitMs` (0: at once). Where it waited for one thing after the
   * other, this is called for each of them, in order; it may have been refused in the end.
   */
  admitted?(
    ticket: Ticket,
    gate: GateKind,
    waitMs: number,
    rounds: number,
    detail?: WaitDetail,
  ): void;
  /** The API is called for the request, for the n-th time; or a lease is granted for it. */
  attemptStarted?(ticket: Ticket, attempt: number): void;
  /** A call ended. `error` is what it failed with, if it did. One that is abandoned ends with `settled`. */
  attemptEnded?(ticket: Ticket, attempt: number, kind: FeedbackKind, error?: unknown): void;
  /** The backoff gate was closed, or its closing extended: `waitMs` from now. */
  backoff?(waitMs: number, source: 'retry_after' | 'computed', change?: BackoffChange): void;
  /** A mode other than `normal` has begun; that it ended is told by time alone, see `mode$`. */
  modeBegan?(mode: Mode): void;
  /** A limit has denied a request, or a limit, the pace or the circuit breaker has changed. */
  changed?(fact: CoreFact): void;
  /** The size of a value was estimated. */
  estimated?(bytes: number, kind: SizedKind): void;
  /** A chunk of requests was closed. */
  chunkClosed?(items: number, bytes: number, reason: ChunkReason, closed?: ClosedChunk): void;
  /** A request has ended and its leases are given back. */
  settled?(ticket: Ticket, outcome: SettleOutcome): void;
  /** Gates were opened: `read` tells their state, until what is returned is called. */
  opened?(read: () => Reading): () => void;
  /** What is around the caller now, a trace context say: kept for `chunkClosed`. */
  around?(): unknown;
  /** Runs what calls the API for a request, once, amid what is to be around that. */
  sending?(ticket: Ticket, send: () => void): void;
  /** Runs what hands a result (or a chunk) on, once, amid what was around its request as it came. */
  delivering?(subject: Ticket | Chunk<unknown>, deliver: () => void): void;
}

/** Methods that are told a fact. */
export const FACTS = [
  'arrived',
  'queued',
  'admitted',
  'attemptStarted',
  'attemptEnded',
  'backoff',
  'modeBegan',
  'changed',
  'estimated',
  'chunkClosed',
  'settled',
] as const satisfies readonly (keyof Probe)[];

/** Methods that run something. */
export const CARRIERS = ['sending', 'delivering'] as const satisfies readonly (keyof Probe)[];

const METHODS = [...FACTS, ...CARRIERS, 'opened', 'around'] as const;

const containedBy = new WeakMap<Probe, Probe>();

/** @throws TypeError for what is no probe */
export function checkProbe(probe: unknown): void {
  if (probe === undefined) return;
  checkMethods('probe', probe, []);
  const methods = METHODS.filter((method) => (probe as Probe)[method] !== undefined);
  checkMethods('probe', probe, methods);
}

type Method = (...facts: unknown[]) => unknown;

/** A probe that never throws: the first error of the one given is printed as a warning. */
export function contain(probe: Probe | undefined): Probe | undefined {
  if (probe === undefined) return undefined;
  const known = containedBy.get(probe);
  if (known !== undefined) return known;
  let warned = false;
  const warn = (method: string, error: unknown) => {
    if (warned) return;
    warned = true;
    process.emitWarning(`a headgate probe threw in \`${method}\`: ${print(error)}`);
  };
  const safe: Partial<Record<keyof Probe, Method>> = {};
  for (const method of [...FACTS, 'around'] as const) {
    const tell = probe[method] as Method | undefined;
    if (tell !== undefined) safe[method] = quiet(probe, tell, (error) => warn(method, error));
  }
  for (const method of CARRIERS) {
    const carry = probe[method] as Method | undefined;
    if (carry === undefined) continue;
    safe[method] = (subject, step) => {
      const once = new Once(step as () => void);
      try {
        carry.call(probe, subject, once.run);
      } catch (error) {
        if (!once.hasThrown(error)) warn(method, error);
      }
      once.end();
    };
  }
  const open = probe.opened as Method | undefined;
  if (open !== undefined) {
    const opened = quiet(probe, open, (error) => warn('opened', error));
    safe.opened = (read) => {
      const close = opened(read);
      return quiet(probe, typeof close === 'function' ? (close as Method) : () => {}, (error) =>
        warn('opened', error),
      );
    };
  }
  containedBy.set(probe, safe as Probe);
  return trust(safe as Probe);
}

/** Marks a probe as one that never throws: `contain` leaves it as it is. */
export function trust(probe: Probe): Probe {
  containedBy.set(probe, probe);
  return probe;
}

function quiet(probe: Probe, tell: Method, onError: (error: unknown) => void): Method {
  return (...facts) => {
    try {
      return tell.apply(probe, facts);
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
}
