/** p-limit for 50 slots and p-retry for retries, as their READMEs show, with jitter. */
import pLimit from 'p-limit';
import pRetry from 'p-retry';
import { RETRY } from '../../clients/p-limit.ts';
import { type ClientContext, type Request, type RunningClient, sendPromise } from '../client.ts';

const SLOTS = 50;

export function pLimitClient(context: ClientContext): RunningClient {
  const limit = pLimit(SLOTS);
  const run = (request: Request) => pRetry(() => sendPromise(context, request), RETRY);
  return {
    handOver: (request) => {
      limit(run, request).catch(() => context.lost(request));
    },
  };
}
