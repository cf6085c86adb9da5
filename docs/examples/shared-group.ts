import { createLimiterGroup } from 'headgate';
import { redisStore } from 'headgate/redis';
import { createClient } from 'redis';

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const client = createClient({ url: REDIS_URL, disableOfflineQueue: true });
client.on('error', () => {}); // the group warns when Redis is away
await client.connect();

// The same in every process: together they keep these limits, of each tenant and of all.
const group = createLimiterGroup(({ tenant }: { tenant: string }) => tenant, {
  each: { requestsPerMinute: 600 },
  shared: { requestsPerMinute: 10_000, concurrency: 400 },
  store: redisStore(client, { key: 'openai:org-1' }),
});

console.log(await group.run('ada', async () => 'an answer')); // an answer
console.log(group.snapshot().fleet?.workers); // 1

group.close();
await group.drain();
await client.close();
