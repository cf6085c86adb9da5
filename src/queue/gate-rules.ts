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

/** Is told how long requests have waited. */
export interface WaitListener {
  /** A request has waited. Must not throw. */
  waited(gate: GateKind, waitMs: number, rounds: number, limit: string | undefined): void;
}
