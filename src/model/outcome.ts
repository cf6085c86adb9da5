/**
 * What requests wait for. One gate holds a request for all of it; each part of a wait counts for the
 * policy that bound during it. `retry`: the delay between two attempts. `paused`: the limiter was
 * paused, see `limiter.pause`.
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
  | 'paused';

/** How a request's time with headgate ended. `rejected`: a limit refused it, and it was never sent. */
export type SettleOutcome = 'ok' | 'failed' | 'rejected' | 'cancelled' | 'reclaimed';

/** What waiting for one policy cost one request. */
export interface GateWait {
  /** Milliseconds, over all attempts. */
  readonly waitMs: number;
  /** How often the request was told to wait (on) for it. */
  readonly rounds: number;
  /** The part of `waitMs` for each named rate limit that bound, in ms. */
  readonly limits?: Readonly<Record<string, number>>;
}

/** What happened to one request. */
export interface RequestStats {
  /** Waits by gate; a gate where the request did not wait is missing. */
  readonly waits: Readonly<Partial<Record<GateKind, GateWait>>>;
  /** Calls to the API, 0 when none was made. */
  readonly attempts: number;
  readonly bytes: number;
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
