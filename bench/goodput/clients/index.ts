/** All clients, in the order of the table. */
import type { Client } from '../client.ts';

export const clients = {
  'headgate-unknown': {
    about: 'throttle() without options, told nothing',
    knows: 'nothing',
    usesGlobals: false,
    load: async () => (await import('./headgate.ts')).headgate('plain'),
  },
  'headgate-headers': {
    about: 'throttle() without options, where answers carry rate-limit headers',
    knows: 'headers',
    usesGlobals: false,
    load: async () => (await import('./headgate.ts')).headgate('plain'),
  },
  'headgate-known': {
    about: 'throttle(), given the true limits',
    knows: 'limits',
    usesGlobals: false,
    load: async () => (await import('./headgate.ts')).headgate('known'),
  },
  'fixed-50': {
    about: '50 at once, retries from 0.5 to 8 s without end',
    knows: 'nothing',
    usesGlobals: false,
    load: async () => (await import('./fixed-50.ts')).fixed50,
  },
  'p-limit': {
    about: 'p-limit and p-retry',
    knows: 'nothing',
    usesGlobals: true,
    load: async () => (await import('./p-limit.ts')).pLimitClient,
  },
  mergeMap: {
    about: 'RxJS: mergeMap, and retry with backoff',
    knows: 'nothing',
    usesGlobals: true,
    load: async () => (await import('./merge-map.ts')).mergeMapClient,
  },
  cockatiel: {
    about: 'cockatiel: bulkhead and retry',
    knows: 'nothing',
    usesGlobals: true,
    load: async () => (await import('./cockatiel.ts')).cockatielClient,
  },
  'aws-cubic': {
    about: 'model of the adaptive retry mode of the AWS SDKs',
    knows: 'nothing',
    usesGlobals: false,
    load: async () => (await import('./aws.ts')).aws,
  },
  gentlify: {
    about: 'model of gentlify',
    knows: 'nothing',
    usesGlobals: false,
    load: async () => (await import('./gentlify.ts')).gentlify,
  },
  tinker: {
    about: 'model of the sampling client of the Tinker SDK',
    knows: 'nothing',
    usesGlobals: false,
    load: async () => (await import('./tinker.ts')).tinker,
  },
  'p-queue': {
    about: 'p-queue with a cap for each second, and p-retry; given the documented limits',
    knows: 'limits',
    usesGlobals: true,
    load: async () => (await import('./p-queue.ts')).pQueueClient,
  },
  'bottleneck-reservoir': {
    about: 'Bottleneck with a reservoir; given the documented limits',
    knows: 'limits',
    usesGlobals: true,
    load: async () => (await import('./bottleneck.ts')).bottleneck('reservoir'),
  },
  'bottleneck-paced': {
    about: 'Bottleneck with minTime; given the documented limits',
    knows: 'limits',
    usesGlobals: true,
    load: async () => (await import('./bottleneck.ts')).bottleneck('paced'),
  },
  'bottleneck-bucket': {
    about: 'Bottleneck with a reservoir that fills up by the second; given the documented limits',
    knows: 'limits',
    usesGlobals: true,
    load: async () => (await import('./bottleneck.ts')).bottleneck('bucket'),
  },
  omniscient: {
    about: 'knows the state of the provider: the bound',
    knows: 'everything',
    usesGlobals: false,
    load: async () => (await import('./omniscient.ts')).omniscient,
  },
} satisfies Record<string, Client>;

export type ClientName = keyof typeof clients;

export function isClientName(name: string): name is ClientName {
  return Object.hasOwn(clients, name);
}

export const clientNames: readonly ClientName[] = Object.keys(clients).filter(isClientName);

const FINISH_ONLY: readonly ClientName[] = ['bottleneck-bucket'];

/** The clients in the goodput table by default. */
export const tableClients: readonly ClientName[] = clientNames.filter(
  (name) => !FINISH_ONLY.includes(name),
);
