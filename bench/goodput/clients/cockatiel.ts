/** cockatiel: a bulkhead for slots, and in it retries with the package's exponential backoff. */
import { bulkhead, ExponentialBackoff, handleAll, retry, wrap } from 'cockatiel';
import type { ClientContext, HandOver } from '../client.ts';
import { documented } from './documented.ts';

/** Its backoff grows with decorrelated jitter from 128 ms to 30 s, by default. */
const RETRIES = 10;

export function cockatielClient({ scenario, send, lost }: ClientContext): HandOver {
  const policy = wrap(
    bulkhead(documented(scenario).inFlight, Number.POSITIVE_INFINITY),
    retry(handleAll, { maxAttempts: RETRIES, backoff: new ExponentialBackoff() }),
  );
  return (prompt) => {
    policy.execute(() => send(prompt)).catch(() => lost(prompt));
  };
}
