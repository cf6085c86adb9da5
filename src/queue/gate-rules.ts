import type { Core } from '../core/core.ts';
import type { GateKind } from '../model/outcome.ts';
import type { AdmissionCallback } from './admission-callback.ts';
import type { IsDead, Queue } from './queue.ts';
import type { QueueCapacity } from './queue-capacity.ts';
import type { WaitTimeouts } from './wait-timeouts.ts';

/** What every gate tells of its queue, beside what its policy tells. */
export interface GateSnapshot {
  /** Requests in the queue. */
  readonly waiting: number;
  /** How long the first of them has been waiting, in ms; 0 if nobody waits. */
  readonly longestWaitMs: number;
  /** Until the first is asked for again, in ms, where time alone can help; else undefined. */
  readonly nextInMs: number | undefined;
}

/** What waits at a gate: tickets, or what tickets are made of when its turn comes. */
export type RequestQueue = Queue<unknown, AdmissionCallback>;

/** What sets one gate apart from another, beside its policy. */
export interface GateRules {
  /** What requests hold over all their attempts. Default: nothing. */
  readonly hold?: Core<number>;
  /** Makes the queues. Default: first in, first out. */
  readonly newQueue?:
    | ((isCancelled: IsDead<unknown, AdmissionCallback>) => RequestQueue)
    | undefined;
  readonly capacity?: QueueCapacity;
  readonly timeouts?: WaitTimeouts;
  readonly check?: AdmissionCheck | undefined;
  readonly listener?: WaitListener | undefined;
  /** Whether several streams bring requests here, each with a probe of its own. Default false. */
  readonly isShared?: boolean;
}

/** Is asked about each newcomer, before it waits. */
export interface AdmissionCheck {
  /** The error with which the newcomer is turned away; undefined: it may come in. */
  turnsAway(): Error | undefined;
}

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

/** Is told how long requests have waited. */
export interface WaitListener {
  /** Whether anybody listens: else nothing need be told. */
  isHeard(): boolean;
  /** A request has begun to wait. Must not throw. */
  waits(start: WaitStart): void;
  /** A request has waited. Must not throw. */
  waited(gate: GateKind, waitMs: number, rounds: number, limit: string | undefined): void;
}
