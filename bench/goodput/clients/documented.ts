/** The settings that a careful user would take from the provider's documentation. */
import type { LimitOptions } from 'headgate/simulator';
import { meanCost, type Scenario } from '../scenario.ts';

export interface Documented {
  /** The documented limits, which may differ from the enforced ones. */
  readonly limits: readonly Pick<LimitOptions, 'unit' | 'limit' | 'windowMs'>[];
  /** The requests a second of the strictest of these limits; Infinity if there is none. */
  readonly perSecond: number;
  /**
   * Slots: 1.5 times as many as fill the provider, at least 50, at most its concurrency and queue.
   */
  readonly inFlight: number;
}

/** An equal share for each worker. */
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
