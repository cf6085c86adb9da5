/** p-queue with the documented rate as a cap for each second, and p-retry inside. */
import PQueue from 'p-queue';
import pRetry from 'p-retry';
import type { ClientContext, HandOver } from '../client.ts';
import { documented } from './documented.ts';
import { RETRY } from './p-limit.ts';

const SECOND_MS = 1000;

export function pQueueClient({ scenario, send, lost }: ClientContext): HandOver {
  const { inFlight, perSecond } = documented(scenario);
  const intervalCap = Math.max(1, Math.floor(perSecond));
  const queue = new PQueue({
    concurrency: inFlight,
    ...(Number.isFinite(perSecond) && {
      intervalCap,
      interval: Math.ceil((SECOND_MS * intervalCap) / perSecond),
    }),
  });
  return (prompt) => {
    queue.add(() => pRetry(() => send(prompt), RETRY)).catch(() => lost(prompt));
  };
}
