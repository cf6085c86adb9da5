import type { Mode } from './feedback.ts';
import type { GateKind } from './outcome.ts';
import type { PolicyEvent } from './policy-events.ts';

/** The log level of an event. */
export type EventLevel = 'debug' | 'info' | 'warn';

/** A request has waited. A wait for several policies one after the other is reported in parts. */
export interface WaitedFact {
  readonly kind: 'waited';
  readonly at: number;
  readonly gate: GateKind;
  /** The named rate limit that bound, if one did. */
  readonly limit?: string;
  readonly waitMs: number;
  readonly rounds: number;
}

/** A request has begun to wait. */
export interface WaitingFact {
  readonly kind: 'waiting';
  readonly at: number;
  readonly gate: GateKind;
  /** The named rate limit that binds, if one does. */
  readonly limit?: string;
  /** Its place in the queue, from 1. With priorities, later requests may overtake it. */
  readonly position: number;
  /** The number of waiting requests, including this one. */
  readonly waiting: number;
  /**
   * When the gate decides again on the first waiting request, for example at the next window;
   * undefined if time alone cannot help.
   */
  readonly untilAt?: number;
}

export interface ModeChangedFact {
  readonly kind: 'modeChanged';
  readonly at: number;
  readonly mode: Mode;
}

/** A percentage of the total has ended. */
export interface MilestoneFact {
  readonly kind: 'milestone';
  readonly at: number;
  readonly percent: number;
}

/** `closed`: no new requests are taken. `drained`: after that, the last one has ended. */
export interface ClosedFact {
  readonly kind: 'closed' | 'drained';
  readonly at: number;
}

/** `pause()` was called: nothing is sent until `resume`. */
export interface PausedFact {
  readonly kind: 'paused';
  readonly at: number;
  readonly reason?: string;
}

export interface ResumedFact {
  readonly kind: 'resumed';
  readonly at: number;
  readonly pausedMs: number;
}

/** `clear()` or `close({ waiting: 'reject' })` ended the wait of requests. */
export interface ClearedFact {
  readonly kind: 'cleared';
  readonly at: number;
  readonly requests: number;
  readonly reason?: string;
}

/** The limiter is closed, and requests that came before have not ended yet. */
export interface DrainingFact {
  readonly kind: 'draining';
  readonly at: number;
  /** Requests that hold a slot. */
  readonly inFlight: number;
  readonly waiting: number;
}

export type LimiterFact =
  | PolicyEvent
  | WaitingFact
  | WaitedFact
  | ModeChangedFact
  | MilestoneFact
  | ClosedFact
  | PausedFact
  | ResumedFact
  | ClearedFact
  | DrainingFact;

/** An event of a limiter. `at` is a time of its clock, in ms. */
export type LimiterEvent = LimiterFact & { readonly level: EventLevel };

/** The log level of each event. */
export const LEVELS: Readonly<Record<LimiterFact['kind'], EventLevel>> = {
  circuitOpened: 'warn',
  circuitHalfOpen: 'info',
  circuitClosed: 'info',
  circuitIsolated: 'warn',
  circuitIsolationEnded: 'info',
  decelerated: 'info',
  reaccelerated: 'info',
  ceilingReset: 'info',
  coolingStarted: 'debug',
  limitAdapted: 'debug',
  rateAdapted: 'debug',
  rateHeld: 'warn',
  outageStarted: 'warn',
  storeLost: 'warn',
  storeBack: 'warn',
  storeForgot: 'warn',
  sharedLimitsChanged: 'warn',
  leaseLost: 'warn',
  leaderChanged: 'info',
  outageEnded: 'info',
  suspended: 'warn',
  limitDenied: 'debug',
  waiting: 'debug',
  waited: 'debug',
  modeChanged: 'info',
  milestone: 'info',
  paused: 'info',
  resumed: 'info',
  cleared: 'info',
  closed: 'info',
  draining: 'info',
  drained: 'info',
};

/** An event with its log level. */
export function leveled(fact: LimiterFact): LimiterEvent {
  return { ...fact, level: LEVELS[fact.kind] };
}
