import type { GateKind } from '../model/outcome.ts';
import type { Receiver } from '../model/ticket.ts';
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
  /** Asked of each newcomer: the error with which it is turned away, or undefined. */
  readonly door?: (() => Error | undefined) | undefined;
}

/** Told of each request that has waited. Must not throw. */
export type OnWaited = (gate: GateKind, waitMs: number, rounds: number) => void;
