/**
 * The causes of waits. One gate asks all policies; each part of a wait counts for the policy that
 * bound during it. `retry` is the delay between two attempts, `paused` the time in which the
 * limiter was paused (`limiter.pause`), `shared` the wait for the store that several workers share.
 */
export type GateKind =
  | 'concurrency'
  | 'byteBudget'
  | 'backoff'
  | 'circuitBreaker'
  | 'rateLimit'
  | 'costBudget'
  | 'pace'
  | 'retry'
  | 'paused'
  | 'shared';

const KINDS: Readonly<Record<GateKind, true>> = {
  concurrency: true,
  byteBudget: true,
  backoff: true,
  circuitBreaker: true,
  rateLimit: true,
  costBudget: true,
  pace: true,
  retry: true,
  paused: true,
  shared: true,
};

/** All causes of waits, in the order in which they are shown. */
export const GATE_KINDS = Object.keys(KINDS) as readonly GateKind[];

/**
 * How a request's time with headgate ended. `rejected`: a limit refused it, and it was never sent.
 */
export type SettleOutcome = 'ok' | 'failed' | 'rejected' | 'cancelled' | 'reclaimed';

/** The wait of one request for one policy. */
export interface GateWait {
  /** Milliseconds, over all attempts. */
  readonly waitMs: number;
  /** How often the policy made the request wait, or wait on. */
  readonly rounds: number;
  /** `waitMs` by the named rate limit that bound, in ms. */
  readonly limits?: Readonly<Record<string, number>>;
}

/** The history of one request. */
export interface RequestStats {
  /** Waits by cause; a policy that the request did not wait for is missing. */
  readonly waits: Readonly<Partial<Record<GateKind, GateWait>>>;
  /** Calls to the API; 0 if none was made. */
  readonly attempts: number;
  /** Its size, as given or estimated. */
  readonly bytes: number;
  /** Its tokens, as given or estimated. */
  readonly tokens: number;
  /** Milliseconds from arrival until these figures were taken. */
  readonly durationMs: number;
}

/** How one request ended, as `outcomes: true` emits it: exactly one a request. */
export type Outcome<T, R> =
  | {
      readonly status: 'ok';
      readonly value: R;
      readonly request: T;
      readonly stats: RequestStats;
    }
  | {
      readonly status: 'failed';
      readonly error: unknown;
      readonly request: T;
      readonly stats: RequestStats;
    };

/**
 * What a request gives: its result, or its outcome if B, the option `outcomes`, is true. It can be
 * either if the type of the option does not tell. B stands in tuples, so that nothing is inferred
 * for it from the type that the caller expects.
 */
export type ResultOrOutcome<T, R, B extends boolean | undefined> = [B] extends [true]
  ? Outcome<T, R>
  : [true] extends [B]
    ? R | Outcome<T, R>
    : R;

/** The wait of a request for one policy so far, linked to its other waits. */
export class Wait {
  readonly gate: GateKind;
  /** The named limit, if the policy has several. */
  readonly limit: string | undefined;
  waitMs: number;
  rounds: number;
  readonly before: Wait | undefined;
  constructor(
    gate: GateKind,
    limit: string | undefined,
    waitMs: number,
    rounds: number,
    before: Wait | undefined,
  ) {
    this.gate = gate;
    this.limit = limit;
    this.waitMs = waitMs;
    this.rounds = rounds;
    this.before = before;
  }
}

/** Adds to the waits of a request. @returns the last of them */
export function longer(
  last: Wait | undefined,
  gate: GateKind,
  limit: string | undefined,
  waitMs: number,
  rounds: number,
): Wait {
  let wait = last;
  while (wait !== undefined && (wait.gate !== gate || wait.limit !== limit)) wait = wait.before;
  if (last === undefined || wait === undefined) return new Wait(gate, limit, waitMs, rounds, last);
  wait.waitMs += waitMs;
  wait.rounds += rounds;
  return last;
}

/** All waits of a request, by cause, and within a cause by named limit. */
export function waitsOf(last: Wait | undefined): Readonly<Partial<Record<GateKind, GateWait>>> {
  const waits: Partial<Record<GateKind, GateWait>> = {};
  for (let wait = last; wait !== undefined; wait = wait.before) {
    const { gate, limit } = wait;
    const { waitMs = 0, rounds = 0, limits } = waits[gate] ?? {};
    const named = limit === undefined ? limits : { ...limits, [limit]: wait.waitMs };
    waits[gate] = {
      waitMs: waitMs + wait.waitMs,
      rounds: rounds + wait.rounds,
      ...(named && { limits: named }),
    };
  }
  return waits;
}
