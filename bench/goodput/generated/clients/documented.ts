/** The documented limits of a generated provider, for clients that know them. */
import type { ClientContext } from '../client.ts';
import type { Scenario } from '../space.ts';

/** Requests of mean size per ms by the strictest limit; Infinity: there is only a cap. */
export function perMsOf({ kind, perMs, secondRatio }: Scenario): number {
  switch (kind) {
    case 'cap':
      return Number.POSITIVE_INFINITY;
    case 'two-limits':
    case 'requests-and-tokens':
      return perMs * Math.min(1, secondRatio);
    default:
      return perMs;
  }
}

/** The concurrency: the provider's cap, or the user's if that is lower. */
export function inFlightOf({ scenario, concurrency }: ClientContext): number {
  return scenario.kind === 'cap' ? Math.min(scenario.limit, concurrency) : concurrency;
}
