import { Redis } from 'ioredis';
import { RateLimiterQueue, RateLimiterRedis } from 'rate-limiter-flexible';
import { type FleetClient, UNLIMITED } from './client.ts';

/** This package does not limit requests in flight. */
export const rateLimiterFlexible = {
  about: 'RateLimiterQueue(RateLimiterRedis({ points, duration })), ioredis',
  connect: async ({ port, key, limit = { requests: UNLIMITED, windowMs: 60_000 } }) => {
    const client = new Redis(port, '127.0.0.1');
    const limiter = new RateLimiterRedis({
      storeClient: client,
      keyPrefix: key,
      points: limit.requests,
      duration: limit.windowMs / 1_000,
    });
    const queue = new RateLimiterQueue(limiter);
    return {
      run: async (task) => {
        await queue.removeTokens(1);
        await task();
      },
      close: async () => {
        await client.quit();
      },
    };
  },
} satisfies FleetClient;
