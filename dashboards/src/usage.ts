import { LABELS } from './metrics.ts';
import { ownOrShared, quotient, series } from './promql.ts';

/** What is used of the byte budget, as a share. */
export function byteUse(): string {
  return quotient(
    ownOrShared('sum', series('bytesUsed')),
    ownOrShared('max', series('bytesLimit')),
  );
}

/** What is used of each rate limit, as a share. */
export function rateUse(): string {
  const kept = [LABELS.limit];
  return quotient(
    ownOrShared('sum', series('rateUsed'), kept),
    ownOrShared('max', series('rateLimit'), kept),
  );
}
