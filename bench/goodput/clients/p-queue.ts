/** p-queue with the documented rate as a cap for each second, and p-retry inside each task. */
import PQueue from 'p-queue';
import pRetry from 'p-retry';
import type { ClientContext, HandOver } from '../client.ts';
import { documented } from './documented.ts';
import { RETRY } from './p-limit.ts';

const SECOND_MS = 1000;

export function pQueueClient({ scenario, send, lost }: ClientContext): HandOver {
  const { inFlight, perSecond } = documented(scenario);
  const queue = new PQueue({ concurrency: inFlight, ...intervalCapOf(perSecond) });
  return (prompt) => {
    queue.add(() => pRetry(() => send(prompt), RETRY)).catch(() => lost(prompt));
  };
}

/** A whole number of requests in about a second, or one request in a longer interval. */
export function intervalCapOf(perSecond: number): { intervalCap?: number; interval?: number } {
  if (!Number.isFinite(perSecond)) return {};
  const intervalCap = Math.max(1, Math.floor(perSecond));
  return { intervalCap, interval: Math.ceil((SECOND_MS * intervalCap) / perSecond) };
}
