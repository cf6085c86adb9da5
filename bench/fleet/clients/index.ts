import { bottleneck } from './bottleneck.ts';
import type { FleetClient } from './client.ts';
import { headgate } from './headgate.ts';
import { rateLimiterFlexible } from './rate-limiter-flexible.ts';

export const clients = {
  headgate,
  ...bottleneck,
  'rate-limiter-flexible': rateLimiterFlexible,
} satisfies Record<string, FleetClient>;

export type ClientName = keyof typeof clients;

/** The clients that headgate is compared with. */
export const PEERS = [
  'bottleneck-reservoir',
  'bottleneck-paced',
  'rate-limiter-flexible',
] as const satisfies readonly ClientName[];
