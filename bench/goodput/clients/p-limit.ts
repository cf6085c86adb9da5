/** p-limit for slots and p-retry for retries, as their READMEs show, with jitter. */
import pLimit from 'p-limit';
import pRetry from 'p-retry';
import type { ClientContext, HandOver } from '../client.ts';
import { documented } from './documented.ts';

/** p-retry's defaults, with jitter and an upper bound of the delay. */
export const RETRY = { retries: 10, randomize: true, maxTimeout: 30_000 } as const;

export function pLimitClient({ scenario, send, lost }: ClientContext): HandOver {
  const limit = pLimit(documented(scenario).inFlight);
  return (prompt) => {
    limit(() => pRetry(() => send(prompt), RETRY)).catch(() => lost(prompt));
  };
}
