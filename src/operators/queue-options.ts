import { DEFAULT_AGING_MS, type LimiterConfig } from '../config/limiter-config.ts';
import { queueBound } from '../gate/queue/bound.ts';
import { PriorityQueue } from '../gate/queue/priority-queue.ts';
import { Room } from '../gate/room.ts';
import type { GateRules } from '../gate/rules.ts';
import { Timeouts } from '../gate/timeouts.ts';
import { checkNumber } from '../model/check.ts';
import type { Clock } from '../model/clock.ts';
import type { Receiver } from '../model/parties.ts';
import { isTicket } from '../model/ticket.ts';

/** How requests wait. */
export type QueueOptions = Pick<
  LimiterConfig,
  'maxQueue' | 'overflow' | 'waitTimeoutMs' | 'agingMs'
>;

export const QUEUE_KEYS = ['maxQueue', 'overflow', 'waitTimeoutMs', 'agingMs'] as const;

/** What the queues of one set of gates share. */
export interface Queues {
  readonly room: Room;
  readonly timeouts: Timeouts;
  readonly agingMs: number;
}

/** @throws RangeError or TypeError that names a wrong option */
export function queuesOf(options: QueueOptions, clock: Clock): Queues {
  const { maxQueue, overflow, agingMs = DEFAULT_AGING_MS } = options;
  const { waitTimeoutMs = Number.POSITIVE_INFINITY } = options;
  if (waitTimeoutMs !== Number.POSITIVE_INFINITY) checkNumber('waitTimeoutMs', waitTimeoutMs, 1);
  checkNumber('agingMs', agingMs, 1);
  return {
    room: new Room(queueBound(maxQueue, overflow)),
    timeouts: new Timeouts(waitTimeoutMs, clock),
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

function priorityOf(item: unknown, receiver: Receiver): number {
  return isTicket(item) ? item.priority : (receiver.priority ?? 0);
}
