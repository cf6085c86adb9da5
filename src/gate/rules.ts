import type { GateKind } from '../model/outcome.ts';
import type { Receiver } from '../model/parties.ts';
import type { Queue } from './queue/queue.ts';
import type { Room } from './room.ts';
import type { Timeouts } from './timeouts.ts';

/** What sets one gate apart from another, beside its core. */
export interface GateRules {
  /** Makes the queue. Default: first in, first out. */
  readonly newQueue?:
    | ((isDead: (item: unknown, receiver: Receiver) => boolean) => Queue<unknown, Receiver>)
    | undefined;
  /** Bounds the queue, perhaps together with others. */
  readonly room?: Room;
  /** Bounds the time that requests wait. */
  readonly timeouts?: Timeouts;
  /** Asked of each newcomer. */
  readonly door?: Door | undefined;
}

/** Whoever may turn newcomers away before they wait. */
export interface Door {
  /** The error with which the newcomer is turned away; undefined: it may come in. */
  turnsAway(): Error | undefined;
}

/** Whoever minds how long requests have waited. */
export interface WaitListener {
  /** A request has waited. Must not throw. */
  waited(gate: GateKind, waitMs: number, rounds: number): void;
}
