/** What the documentation of a generated provider says, for clients that are told its limits. */
import type { ClientContext } from '../client.ts';
import type { Scenario } from '../space.ts';

/** Requests per ms by the strictest limit, at requests of mean size; Infinity: only a cap is known. */
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

/** Requests in flight: the provider's cap, if it has one that is below the user's. */
export function inFlightOf({ scenario, concurrency }: ClientContext): number {
  return scenario.kind === 'cap' ? Math.min(scenario.limit, concurrency) : concurrency;
}
