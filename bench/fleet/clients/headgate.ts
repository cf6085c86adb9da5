import { createLimiter } from 'headgate';
import { redisStore } from 'headgate/redis';
import { createClient } from 'redis';
import { TTL_MS } from '../goals.ts';
import { type FleetClient, UNLIMITED } from './client.ts';

/**
 * Configured as in docs/guides/several-processes.md, with a shorter time to live for measurements.
 */
export const headgate = {
  about: `createLimiter({ shared: redisStore(client, { ttlMs: ${TTL_MS} }) }), node-redis`,
  connect: async ({ port, key, limit, slots = UNLIMITED }) => {
    const client = createClient({
      url: `redis://127.0.0.1:${port}`,
      disableOfflineQueue: true,
      socket: { reconnectStrategy: 200 },
    });
    client.on('error', () => {});
    await client.connect();
    const requests = limit && { limit: limit.requests, windowMs: limit.windowMs };
    const limiter = createLimiter({
      adaptive: false,
      concurrency: slots,
      ...(requests && { limits: { requests } }),
      shared: redisStore(client, { key, ttlMs: TTL_MS }),
    });
    return {
      run: (task, signal) => limiter.run(task, { signal }),
      close: async () => {
        limiter.close();
        await limiter.drain();
        await client.close();
      },
    };
  },
} satisfies FleetClient;
