/** The clients that run against generated providers, in the order of the report. */
import { callbackTime, globalTime, manualTime } from '../../virtual-time.ts';
import type { GeneratedClient } from '../client.ts';

export const generatedClients = {
  headgate: {
    about: 'a limiter at its defaults',
    time: callbackTime,
    load: async () => (await import('./headgate.ts')).headgate('defaults'),
  },
  'headgate-known': {
    about: 'a limiter that is given the true limits',
    time: callbackTime,
    load: async () => (await import('./headgate.ts')).headgate('known'),
  },
  'headgate-fleet': {
    about: '2 to 8 limiters at their defaults, which share a store',
    time: manualTime,
    load: async () => (await import('./headgate-fleet.ts')).headgateFleet,
  },
  aimd: {
    about: 'from 2/s, x1.02 a second, x0.7 at a rejection; retries at once',
    time: callbackTime,
    load: async () => (await import('./aimd.ts')).aimd,
  },
  known: {
    about: 'told the true limits: a token bucket, and backoff of 0.5 to 8 s with jitter',
    time: callbackTime,
    load: async () => (await import('./known.ts')).known,
  },
  'p-limit': {
    about: 'p-limit with 50 slots, and p-retry',
    time: globalTime,
    load: async () => (await import('./p-limit.ts')).pLimitClient,
  },
  'p-queue': {
    about: 'told the true rate: p-queue with an interval cap, and p-retry',
    time: globalTime,
    load: async () => (await import('./p-queue.ts')).pQueueClient,
  },
} satisfies Record<string, GeneratedClient>;

export type GeneratedClientName = keyof typeof generatedClients;

export function isGeneratedClientName(name: string): name is GeneratedClientName {
  return Object.hasOwn(generatedClients, name);
}

export const generatedClientNames: readonly GeneratedClientName[] =
  Object.keys(generatedClients).filter(isGeneratedClientName);
