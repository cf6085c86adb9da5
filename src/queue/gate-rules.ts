import type { GateKind } from '../model/outcome.ts';
import type { Policy } from '../policies/policy.ts';
import type { AdmissionCallback } from './admission-callback.ts';
import type { IsCancelled, Queue } from './queue.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import type { WaitTimeouts } from './wait-timeouts.ts';

/** The state of a gate's queue, beside the state of its policies. */
export interface GateSnapshot {
  /** Requests in the queue. */
  readonly waiting: number;
  /** How long the first of them has been waiting, in ms; 0 if none waits. */
  readonly longestWaitMs: number;
  /** The time until the first is decided on again, in ms; undefined if time alone cannot help. */
  readonly nextInMs: number | undefined;
}

/** The queue of a gate: tickets, or items whose tickets are made when their turn comes. */
export type RequestQueue = Queue<unknown, AdmissionCallback>;

/** How the requests of a gate wait. */
export interface QueueRules {
  readonly capacity: QueueCapacity;
  readonly timeouts: WaitTimeouts;
  /** Creates the queues. Default: first in, first out. */
  readonly newQueue?:
    | ((isCancelled: IsCancelled<unknown, AdmissionCallback>) => RequestQueue)
    | undefined;
}

/** The options of a gate beside its policy. */
export interface GateRules extends Partial<QueueRules> {
  /** The policies whose leases requests hold over all attempts. Default: none. */
  readonly hold?: Policy<number>;
  readonly check?: AdmissionCheck | undefined;
  readonly listener?: WaitListener | undefined;
  /** Whether several streams bring requests, each with an instrumentation of its own. Default false. */
  readonly isShared?: boolean;
}

/** Called for each newcomer before it waits. */
export interface AdmissionCheck {
  /** The error that turns the newcomer away; undefined if it may enter. */
  turnsAway(newcomer: Newcomer): Error | undefined;
}

/** Says of a request that comes whether it is a call of a limiter. */
export type Newcomer = Pick<AdmissionCallback, 'isCall'>;

/** The beginning of a wait. */
export interface WaitStart {
  readonly gate: GateKind;
  readonly limit: string | undefined;
  /** Its place in the queue, from 1; where a lower priority waits behind others, at least that. */
  readonly position: number;
  /** How many wait, itself included. */
  readonly waiting: number;
  /** When the first of them is asked for again; undefined: time alone does not help. */
  readonly untilAt: number | undefined;
}

/** Receives the waits of requests. */
export interface WaitListener {
  /** Whether anybody listens: else nothing need be told. */
  isHeard(): boolean;
  /** A request has begun to wait. Must not throw. */
  waits(start: WaitStart): void;
  /** Called when a wait ended. Must not throw. */
  waited(gate: GateKind, waitMs: number, rounds: number, limit: string | undefined): void;
}
