import type { GateKind } from '../model/outcome.ts';
import type { Policy } from '../policies/policy.ts';
import type { QueueRules } from './queue-rules.ts';
import type { Newcomer } from './waiting-requests.ts';

/** The state of a gate's queue, beside the state of its policies. */
export interface GateSnapshot {
  /** Requests in the queue. */
  readonly waiting: number;
  /** How long the first of them has been waiting, in ms; 0 if none waits. */
  readonly longestWaitMs: number;
  /** The time until the first is decided on again, in ms; undefined if time alone cannot help. */
  readonly nextInMs: number | undefined;
}

/** The options of a gate, without its policy. */
export interface GateRules extends Partial<QueueRules> {
  /** The policies whose leases requests hold over all attempts. Default: none. */
  readonly hold?: Policy<number>;
  readonly check?: AdmissionCheck | undefined;
  readonly listener?: WaitListener | undefined;
  /**
   * Whether several streams bring requests, each with its own instrumentation. Default false.
   */
  readonly isShared?: boolean;
}

/** Decides whether requests are refused now. */
export interface Refusing {
  /** The error of a request that arrives now; undefined if requests are not refused any more. */
  refusal(): Error | undefined;
}

/** Called for each newcomer before it waits. */
export interface AdmissionCheck {
  /** The error that turns the newcomer away; undefined if it may enter. */
  turnsAway(newcomer: Newcomer): Error | undefined;
}

/** The beginning of a wait. */
export interface WaitStart {
  readonly gate: GateKind;
  readonly limit: string | undefined;
  /** Its place in the queue, from 1; for a priority queue a lower bound. */
  readonly position: number;
  /** The number of waiting requests, including this one. */
  readonly waiting: number;
  /** When the gate decides again on the first request; undefined if time alone does not help. */
  readonly untilAt: number | undefined;
}

/** Receives the waits of requests. */
export interface WaitListener {
  /** Whether there is a listener. If not, no wait needs to be reported. */
  isHeard(): boolean;
  /** A request has begun to wait. Must not throw. */
  waits(start: WaitStart): void;
  /** Called when a wait ended. Must not throw. */
  waited(gate: GateKind, waitMs: number, rounds: number, limit: string | undefined): void;
}
