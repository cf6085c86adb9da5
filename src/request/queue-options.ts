import { DEFAULT_AGING_MS, type LimiterConfig } from '../options/limiter-config.ts';
import type { GateRules } from '../queue/gate-rules.ts';
import { PriorityQueue } from '../queue/priority-queue.ts';
import { QueueCapacity, queueBound } from '../queue/queue-capacity.ts';
import { WaitTimeouts } from '../queue/wait-timeouts.ts';
import { priorityOf } from '../queue/waiting-requests.ts';
import { checkNumber } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';

/** How requests wait. */
export type QueueOptions = Pick<
  LimiterConfig,
  'maxQueue' | 'overflow' | 'waitTimeoutMs' | 'agingMs'
>;

export const QUEUE_KEYS = ['maxQueue', 'overflow', 'waitTimeoutMs', 'agingMs'] as const;

/** How the requests of one gate wait. */
export class Queues {
  readonly capacity: QueueCapacity;
  readonly timeouts: WaitTimeouts;
  private readonly agingMs: number;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: QueueOptions & Pick<LimiterConfig, 'deadlineMs'>, clock: Clock) {
    const { maxQueue, overflow, agingMs = DEFAULT_AGING_MS } = options;
    const { waitTimeoutMs = Number.POSITIVE_INFINITY, deadlineMs } = options;
    if (waitTimeoutMs !== Number.POSITIVE_INFINITY) checkNumber('waitTimeoutMs', waitTimeoutMs, 1);
    checkNumber('agingMs', agingMs, 1);
    this.capacity = new QueueCapacity(queueBound(maxQueue, overflow));
    this.timeouts = new WaitTimeouts(waitTimeoutMs, clock, deadlineMs);
    this.agingMs = agingMs;
  }

  /** Rules for a gate. */
  rules(isPrioritized: boolean): GateRules {
    const { capacity, timeouts, agingMs } = this;
    const newQueue: GateRules['newQueue'] = isPrioritized
      ? (isCancelled) => new PriorityQueue(isCancelled, { priorityOf, agingMs })
      : undefined;
    return { capacity, timeouts, newQueue };
  }
}
