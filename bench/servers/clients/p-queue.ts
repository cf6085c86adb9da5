/** p-queue, tuned by hand to the known limit, with the same retries. */
import PQueue from 'p-queue';
import { type Client, type ClientContext, send } from '../client.ts';
import type { Limit } from '../limit.ts';
import { withRetries } from './retries.ts';

/** Added to each interval, because evenly sent requests do not arrive evenly. */
const MARGIN_MS = 5;

/** Added to a window, which begins late if its first sixty requests have to open connections. */
const WINDOW_MARGIN_MS = 200;

export const pQueueClient = {
  'p-queue': {
    about: 'p-queue with the interval, or the slots, that fit the limit; retries as p-limit',
    run: ({ endpoint, limit, requests }: ClientContext) => {
      const queue = new PQueue(tunedFor(limit));
      // Each attempt goes through the queue, retries too.
      const ask = () => withRetries(() => queue.add(() => send(endpoint)));
      return Promise.all(Array.from({ length: requests }, ask));
    },
  },
} satisfies Record<string, Client>;

interface Tuned {
  readonly concurrency?: number;
  readonly intervalCap?: number;
  /** In milliseconds. */
  readonly interval?: number;
}

/**
 * The fastest options with hardly any rejections, found by trying. Half a burst at a time leaves
 * the other half for requests that arrive early.
 */
export function tunedFor(limit: Limit): Tuned {
  switch (limit.kind) {
    case 'spaced': {
      const intervalCap = Math.ceil(limit.burst / 2);
      return { intervalCap, interval: (1000 * intervalCap) / limit.perSecond + MARGIN_MS };
    }
    case 'window':
      return { intervalCap: limit.limit, interval: limit.windowMs + WINDOW_MARGIN_MS };
    case 'sliding':
      return { intervalCap: 1, interval: limit.windowMs / limit.limit + MARGIN_MS };
    case 'in-flight':
      return { concurrency: limit.limit };
  }
}
