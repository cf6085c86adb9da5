/** All servers, in the order of the tables. */
import type { Server } from '../server.ts';
import { expressRateLimit } from './express.ts';
import { fastifyRateLimit } from './fastify.ts';
import { haproxy } from './haproxy.ts';
import { litellm } from './litellm.ts';
import { nginx } from './nginx.ts';
import { rateLimiterFlexible } from './rate-limiter-flexible.ts';

export const servers = {
  ...nginx,
  ...haproxy,
  ...expressRateLimit,
  ...fastifyRateLimit,
  ...rateLimiterFlexible,
  ...litellm,
} satisfies Record<string, Server>;

export type ServerName = keyof typeof servers;

export function isServerName(name: string): name is ServerName {
  return Object.hasOwn(servers, name);
}

export const serverNames: readonly ServerName[] = Object.keys(servers).filter(isServerName);
