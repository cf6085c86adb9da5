/** All clients, in the order of the tables. */
import type { Client } from '../client.ts';
import { headgate } from './headgate.ts';
import { pLimitClient } from './p-limit.ts';
import { pQueueClient } from './p-queue.ts';

export const clients = {
  ...headgate,
  ...pLimitClient,
  ...pQueueClient,
} satisfies Record<string, Client>;

export type ClientName = keyof typeof clients;

export function isClientName(name: string): name is ClientName {
  return Object.hasOwn(clients, name);
}

/** Whether a client is one of headgate's. */
export function isOwn(name: ClientName): boolean {
  return Object.hasOwn(headgate, name);
}

export const clientNames: readonly ClientName[] = Object.keys(clients).filter(isClientName);
