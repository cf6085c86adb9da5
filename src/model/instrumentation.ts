import { checkMethods } from '../util/check.ts';
import { Once } from '../util/once.ts';
import { print } from '../util/print.ts';
import { warn } from '../util/warn.ts';
import type { FeedbackKind, Mode } from './feedback.ts';
import type { GaugeSnapshot } from './gauge.ts';
import type { GateKind, SettleOutcome } from './outcome.ts';
import type { PolicyEvent } from './policy-events.ts';
import type { Chunk, ChunkReason, SizedKind } from './sized.ts';
import type { Ticket } from './ticket.ts';

/** The effect of a rejection on the backoff. */
export interface BackoffChange {
  /** By how much it delays the opening of the gate, in ms; 0: not at all. */
  readonly addedMs: number;
}

/** Details of one part of a wait. */
export interface WaitDetail {
  /** The named rate limit that bound, if one did. */
  readonly limit: string | undefined;
  /** How long ago this part ended, in ms: afterwards the request waited for something else. */
  readonly endedMsAgo: number;
}

/** A closed chunk, and the contexts in which its items arrived. */
export interface ClosedChunk {
  readonly chunk: Chunk<unknown>;
  /** How long it was open, in ms. */
  readonly openMs: number;
  /** The values of `around` when its items arrived, each once. */
  readonly arounds: readonly unknown[];
}

/**
 * Hooks that are called for each event of a request, to count or trace it. All methods are optional
 * and must be fast. An error of a hook is contained: it is printed once as a warning, and affects
 * no request.
 */
export interface Instrumentation {
  /**
   * Whether `arrived` and `queued` must be called for the request of a stream that arrives now.
   * False: they are not, and it gets its ticket only when its turn comes, or when the stream ends
   * before that. This is called once for each request, and makes waiting requests much cheaper.
   * Default: they are called.
   */
  needsArrival?(feedback?: { readonly mode: Mode }): boolean;
  /** A request reached its first gate. `feedback` has the mode, if it is known. */
  arrived?(ticket: Ticket, feedback?: { readonly mode: Mode }): void;
  /** A request has to wait at a gate, or for the delay between two attempts (`retry`). */
  queued?(ticket: Ticket, gate: GateKind): void;
  /**
   * A request passed a gate after `waitMs` (0: at once), or was refused there. If it waited for
   * several policies one after the other, this is called once for each, in order.
   */
  admitted?(
    ticket: Ticket,
    gate: GateKind,
    waitMs: number,
    rounds: number,
    detail?: WaitDetail,
  ): void;
  /** The n-th call of the API for the request starts, or a lease is granted for it. */
  attemptStarted?(ticket: Ticket, attempt: number): void;
  /** A call ended; `error` is set if it failed. An abandoned call ends with `settled` instead. */
  attemptEnded?(ticket: Ticket, attempt: number, kind: FeedbackKind, error?: unknown): void;
  /** The backoff gate closed, or stays closed for longer: until `waitMs` from now. */
  backoff?(waitMs: number, source: 'retry_after' | 'computed', change?: BackoffChange): void;
  /**
   * A mode other than `normal` has begun. No hook reports its end, which time alone decides; see
   * `mode$`.
   */
  modeBegan?(mode: Mode): void;
  /** A limit denied a request, or a limit, the pace or the circuit breaker changed. */
  changed?(fact: PolicyEvent): void;
  /**
   * A call of the store that workers share was answered after `tookMs`, or failed or was too slow.
   * A call that fails is repeated.
   */
  storeCalled?(tookMs: number, isAnswered: boolean): void;
  /** The size of a value was estimated. */
  estimated?(bytes: number, kind: SizedKind): void;
  /** A chunk of requests was closed. */
  chunkClosed?(items: number, bytes: number, reason: ChunkReason, closed?: ClosedChunk): void;
  /** A request ended and its leases were given back. */
  settled?(ticket: Ticket, outcome: SettleOutcome): void;
  /** Gates were created. `read` returns their state until the returned function is called. */
  opened?(read: () => GaugeSnapshot): () => void;
  /**
   * Returns the caller's present context, such as a trace context. It is kept for `chunkClosed`.
   */
  around?(): unknown;
  /** Must call `send` once, which calls the API, inside the context that the call should have. */
  sending?(ticket: Ticket, send: () => void): void;
  /**
   * Must call `deliver` once, which emits a result or a chunk, inside the context in which its
   * request arrived.
   */
  delivering?(subject: Ticket | Chunk<unknown>, deliver: () => void): void;
}

/** The methods that receive an event. */
export const EVENT_METHODS = [
  'arrived',
  'queued',
  'admitted',
  'attemptStarted',
  'attemptEnded',
  'backoff',
  'modeBegan',
  'changed',
  'storeCalled',
  'estimated',
  'chunkClosed',
  'settled',
] as const satisfies readonly (keyof Instrumentation)[];

/** The methods that run a step inside a context. */
export const AROUND_METHODS = [
  'sending',
  'delivering',
] as const satisfies readonly (keyof Instrumentation)[];

const METHODS = [...EVENT_METHODS, ...AROUND_METHODS, 'opened', 'around', 'needsArrival'] as const;

const containedBy = new WeakMap<Instrumentation, Instrumentation>();

/**
 * @throws TypeError for a value that has none of these methods, or whose methods are no functions
 */
export function checkInstrumentation(instrumentation: unknown): void {
  if (instrumentation === undefined) return;
  checkMethods('instrumentation', instrumentation, []);
  const methods = METHODS.filter(
    (method) => (instrumentation as Instrumentation)[method] !== undefined,
  );
  checkMethods('instrumentation', instrumentation, methods);
}

type Method = (...facts: unknown[]) => unknown;

/**
 * Whether the request of a stream that arrives now needs its ticket at once, because its arrival is
 * reported.
 */
export function needsArrival(
  instrumentation: Instrumentation | undefined,
  feedback?: { readonly mode: Mode },
): boolean {
  if (instrumentation === undefined) return false;
  return instrumentation.needsArrival?.(feedback) !== false;
}

/** Wraps an instrumentation so that it never throws. Its first error is printed as a warning. */
export function contain(instrumentation: Instrumentation | undefined): Instrumentation | undefined {
  if (instrumentation === undefined) return undefined;
  const known = containedBy.get(instrumentation);
  if (known !== undefined) return known;
  let warned = false;
  const warnOnce = (method: string, error: unknown) => {
    if (warned) return;
    warned = true;
    warn(`a headgate instrumentation threw in \`${method}\`: ${print(error)}`);
  };
  const safe: Partial<Record<keyof Instrumentation, Method>> = {};
  for (const method of [...EVENT_METHODS, 'around', 'needsArrival'] as const) {
    const tell = instrumentation[method] as Method | undefined;
    if (tell !== undefined)
      safe[method] = quiet(instrumentation, tell, (error) => warnOnce(method, error));
  }
  for (const method of AROUND_METHODS) {
    const carry = instrumentation[method] as Method | undefined;
    if (carry === undefined) continue;
    safe[method] = (subject, step) => {
      const once = new Once(step as () => void);
      try {
        carry.call(instrumentation, subject, once.run);
      } catch (error) {
        if (!once.hasThrown(error)) warnOnce(method, error);
      }
      once.end();
    };
  }
  const open = instrumentation.opened as Method | undefined;
  if (open !== undefined) {
    const opened = quiet(instrumentation, open, (error) => warnOnce('opened', error));
    safe.opened = (read) => {
      const close = opened(read);
      return quiet(
        instrumentation,
        typeof close === 'function' ? (close as Method) : () => {},
        (error) => warnOnce('opened', error),
      );
    };
  }
  containedBy.set(instrumentation, safe as Instrumentation);
  return trust(safe as Instrumentation);
}

/** Marks an instrumentation that never throws, so that `contain` does not wrap it. */
export function trust(instrumentation: Instrumentation): Instrumentation {
  containedBy.set(instrumentation, instrumentation);
  return instrumentation;
}

function quiet(
  instrumentation: Instrumentation,
  tell: Method,
  onError: (error: unknown) => void,
): Method {
  return (...facts) => {
    try {
      return tell.apply(instrumentation, facts);
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
}
