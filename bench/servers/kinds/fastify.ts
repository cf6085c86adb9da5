/** @fastify/rate-limit. */
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import type { Server } from '../server.ts';
import { WINDOW, WINDOW_TEXT } from './window.ts';

export const fastifyRateLimit = {
  fastify: {
    about: `@fastify/rate-limit: ${WINDOW_TEXT}, x-ratelimit headers`,
    limit: WINDOW,
    latencyMs: 0,
    open: async () => {
      const app = fastify({ forceCloseConnections: true });
      await app.register(rateLimit, { max: WINDOW.limit, timeWindow: WINDOW.windowMs });
      app.get('/', async () => 'ok');
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      return { endpoint: { url, method: 'GET', headers: {} }, close: () => app.close() };
    },
  },
} satisfies Record<string, Server>;
