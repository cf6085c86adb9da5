import { Queue, QueueEvents, Worker } from 'bullmq';
import { createLimiter } from 'headgate';
import { processQueue } from 'headgate/bullmq';
import { Redis } from 'ioredis';
import OpenAI from 'openai';

const client = new OpenAI({ maxRetries: 0 });
const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const connection = new Redis(url, { maxRetriesPerRequest: null });

// In the program that has the prompts.
const queue = new Queue('prompts', { connection });
const events = new QueueEvents('prompts', { connection });
// Before the job is added: BullMQ does not hear of one that ends as it connects.
await events.waitUntilReady();
const job = await queue.add('ask', { prompt: 'Say hello.' }, { attempts: 3 });

// In each worker: without a processor of BullMQ's own.
const worker = new Worker('prompts', null, { connection });
const processing = processQueue(
  worker,
  async ({ data }, { signal }) => {
    const messages = [{ role: 'user' as const, content: String(data.prompt) }];
    const body = { model: 'gpt-5-mini', messages };
    const answer = await client.chat.completions.create(body, { signal });
    return { prompt: data.prompt, answer: answer.choices[0]?.message.content };
  },
  { limiter: createLimiter({ requestsPerMinute: 500 }), onError: console.error },
);

const { prompt, answer } = await job.waitUntilFinished(events);
console.log(prompt, answer);

// On SIGTERM: jobs that wait go back to the queue, those in flight end.
await processing.close({ drainMs: 10_000 });
await queue.close();
await events.close();
connection.disconnect();
