import Bottleneck from 'bottleneck';
import { Redis } from 'ioredis';
import type { Setup } from '../setup.ts';
import type { Connected, FleetClient } from './client.ts';

/** Bottleneck's clustering, with a reservoir or with evenly spaced requests. */
export const bottleneck = {
  'bottleneck-reservoir': {
    about: "Bottleneck({ datastore: 'ioredis', reservoir, reservoirRefreshInterval })",
    connect: (setup) => {
      const { requests = null, windowMs = null } = setup.limit ?? {};
      return connect(setup, {
        reservoir: requests,
        reservoirRefreshAmount: requests,
        reservoirRefreshInterval: windowMs,
      });
    },
  },
  'bottleneck-paced': {
    about: "Bottleneck({ datastore: 'ioredis', minTime })",
    connect: (setup) => {
      const { requests = 1, windowMs = 0 } = setup.limit ?? {};
      return connect(setup, { minTime: windowMs / requests });
    },
  },
} satisfies Record<string, FleetClient>;

async function connect(
  { port, key, slots }: Setup,
  options: Bottleneck.ConstructorOptions,
): Promise<Connected> {
  const client = new Redis(port, '127.0.0.1');
  const limiter = new Bottleneck({
    ...options,
    id: key,
    ...(slots !== undefined && { maxConcurrent: slots }),
    datastore: 'ioredis',
    connection: new Bottleneck.IORedisConnection({ client }),
  });
  await limiter.ready();
  return {
    run: (task) => limiter.schedule(task),
    close: async () => {
      await limiter.stop({ dropWaitingJobs: true });
      await limiter.disconnect(false);
    },
  };
}
