/** All clients, in the order of the table. */
import type { Client } from '../client.ts';

export const clients = {
  'headgate-unknown': {
    about: 'throttle(), told nothing',
    knows: 'nothing',
    usesGlobals: false,
    load: async () => (await import('./headgate.ts')).headgate('unknown'),
  },
  'headgate-headers': {
    about: 'throttle(), where answers carry x-ratelimit headers',
    knows: 'headers',
    usesGlobals: false,
    load: async () => (await import('./headgate.ts')).headgate('headers'),
  },
  'headgate-known': {
    about: 'throttle(), given the true limits',
    knows: 'limits',
    usesGlobals: false,
    load: async () => (await import('./headgate.ts')).headgate('known'),
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
