/** p-queue with the documented rate as an interval cap, and p-retry inside each task. */
import PQueue from 'p-queue';
import pRetry from 'p-retry';
import { RETRY } from '../../clients/p-limit.ts';
import { intervalCapOf } from '../../clients/p-queue.ts';
import { type ClientContext, type RunningClient, sendPromise } from '../client.ts';
import { inFlightOf, perMsOf } from './documented.ts';

export function pQueueClient(context: ClientContext): RunningClient {
  const queue = new PQueue({
    concurrency: inFlightOf(context),
    ...intervalCapOf(1_000 * perMsOf(context.scenario)),
  });
  return {
    handOver: (request) => {
      queue
        .add(() => pRetry(() => sendPromise(context, request), RETRY))
        .catch(() => context.lost(request));
    },
  };
}
