import { type Overflow, queueBound } from '../gate/queue/bound.ts';
import { PriorityQueue } from '../gate/queue/priority-queue.ts';
import { Room } from '../gate/room.ts';
import type { GateRules } from '../gate/rules.ts';
import { Timeouts } from '../gate/timeouts.ts';
import { checkNumber } from '../model/check.ts';
import type { Clock } from '../model/clock.ts';
import { type Receiver, Ticket } from '../model/ticket.ts';

/** Waiting time that makes up for one step of priority: 10 s. */
export const DEFAULT_AGING_MS = 10_000;

/** How requests wait. */
export interface QueueOptions {
  /**
   * Requests that may wait, at all gates together, an integer >= 0; what was sent before, and waits
   * to be sent again, counts but is never turned away. Default: no bound.
   */
  readonly maxQueue?: number;
  /** Who goes with a `QueueFullError` when one more comes. Default `'error'`: the newcomer. */
  readonly overflow?: Overflow;
  /**
   * How long a request may wait for its first attempt, in ms, a number >= 1; then it fails with a
   * `WaitTimeoutError`. Default: no bound.
   */
  readonly waitTimeoutMs?: number;
  /**
   * How long a request must have waited to be as urgent as one of the next higher priority, in ms,
   * a number >= 1. So one of priority p is overtaken only by those of a higher priority q that come
   * less than (q - p) x `agingMs` after it. Default 10,000.
   */
  readonly agingMs?: number;
}

export const QUEUE_KEYS = ['maxQueue', 'overflow', 'waitTimeoutMs', 'agingMs'] as const;

/** What the queues of one set of gates share. */
export interface Queues {
  readonly room: Room;
  readonly timeouts: Timeouts;
  readonly agingMs: number;
}

/** @throws RangeError or TypeError that names a wrong option */
export function queuesOf(options: QueueOptions, clock: Clock): Queues {
  const { maxQueue, overflow, waitTimeoutMs, agingMs = DEFAULT_AGING_MS } = options;
  if (waitTimeoutMs !== undefined) checkNumber('waitTimeoutMs', waitTimeoutMs, 1);
  checkNumber('agingMs', agingMs, 1);
  return {
    room: new Room(queueBound(maxQueue, overflow)),
    timeouts: new Timeouts(waitTimeoutMs ?? Number.POSITIVE_INFINITY, clock),
    agingMs,
  };
}

/** Rules for the gates that share these queues; undefined: none is needed. */
export function rulesOf(
  { room, timeouts, agingMs }: Queues,
  isPrioritized: boolean,
): GateRules | undefined {
  if (!isPrioritized && !room.isBounded && !timeouts.isOn) return undefined;
  const newQueue: GateRules['newQueue'] = isPrioritized
    ? (isDead) => new PriorityQueue(isDead, { priorityOf, agingMs })
    : undefined;
  return { room, timeouts, newQueue };
}

function priorityOf(item: unknown, _receiver: Receiver): number {
  return item instanceof Ticket ? item.priority : 0;
}
