import { createLimiter } from 'headgate';
import { redisStore } from 'headgate/redis';
import { createClient } from 'redis';

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const client = createClient({
  url: REDIS_URL,
  disableOfflineQueue: true,
  socket: { reconnectStrategy: 200 }, // ms between attempts to connect
});
client.on('error', () => {}); // the limiter warns when Redis is away
await client.connect();

// The same in every process: together they keep these limits.
const limiter = createLimiter({
  requestsPerMinute: 10_000,
  tokensPerMinute: 2_000_000,
  concurrency: 400,
  shared: redisStore(client, { key: 'openai:org-1' }),
});

console.log(await limiter.run(async () => 'an answer', { tokens: 500 })); // an answer
console.log(limiter.snapshot().fleet?.workers); // 1

limiter.close();
await limiter.drain();
await client.close();
