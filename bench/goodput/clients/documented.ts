/** What a careful user of a client that has to be told would tell it: what the provider documents. */
import type { LimitOptions } from 'headgate/simulator';
import { meanCost, type Scenario } from '../scenario.ts';

export interface Documented {
  /** The limits as documentation and headers have them, which is not always how they are enforced. */
  readonly limits: readonly Pick<LimitOptions, 'unit' | 'limit' | 'windowMs'>[];
  /** Requests a second by the strictest of these limits; Infinity without one. */
  readonly perSecond: number;
  /** Enough to fill the provider, with half as many again, and at least 50; no more than it takes. */
  readonly inFlight: number;
}

/** One worker's equal share. */
export function documented({
  provider,
  workers,
  prompts,
  perSecond,
  latencyMs,
}: Scenario): Documented {
  const { limits = [], concurrency } = provider;
  const shares = limits.map(({ unit, limit, windowMs, advertised }) => {
    const told = advertised || { limit, windowMs };
    return { unit, limit: told.limit / workers, windowMs: told.windowMs };
  });
  const rates = limits.map((limit, index) => {
    const share = shares[index] ?? limit;
    return (share.limit * 1000) / share.windowMs / meanCost(limit, prompts);
  });
  const wanted = Math.max(50, Math.ceil((1.5 * perSecond * latencyMs) / 1000));
  const most =
    concurrency === undefined ? wanted : concurrency.units + (concurrency.queue ?? wanted);
  return {
    limits: shares,
    perSecond: Math.min(...rates),
    inFlight: Math.max(1, Math.floor(Math.min(wanted, most) / workers)),
  };
}
