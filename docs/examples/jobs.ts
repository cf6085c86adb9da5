import { setTimeout as sleep } from 'node:timers/promises';
import { createLimiter } from 'headgate';

// Stands for the API: a job takes 30 ms.
const endsAt: number[] = [];
async function api(method: 'POST' | 'GET' | 'DELETE', id = 0, signal?: AbortSignal) {
  signal?.throwIfAborted();
  if (method === 'POST') return Response.json({ id: endsAt.push(Date.now() + 30) - 1 });
  return Response.json({ id, isDone: Date.now() >= (endsAt[id] ?? 0) });
}

const POLL_MS = 10; // for a real API a few seconds
const JOB_MS = 300_000; // shorter than attemptTimeoutMs, which is 10 minutes
const jobs = createLimiter({
  concurrency: 5, // jobs at once
  requestsPerMinute: 60, // new jobs
});
const polls = createLimiter({ requestsPerMinute: 600 });

async function finished(id: number, signal: AbortSignal): Promise<{ id: number }> {
  const giveUpAt = Date.now() + JOB_MS;
  while (Date.now() < giveUpAt) {
    await sleep(POLL_MS, undefined, { signal });
    const answer = await polls.run((poll) => api('GET', id, poll.signal), { signal });
    if (answer.status === 404) throw new Error(`the API does not know job ${id}`);
    if (!answer.ok) continue; // a poll that failed says nothing about the job
    const job = (await answer.json()) as { id: number; isDone: boolean };
    if (job.isDone) return job;
  }
  throw new Error(`job ${id} takes too long`);
}

const render = (options?: { signal: AbortSignal }) =>
  jobs.run(async ({ signal, doNotRetry, observe }) => {
    const created = observe(await api('POST')); // no signal: an abort would lose the id
    if (!created.ok) return created; // headgate sends it again, if that helps
    doNotRetry(); // the job exists, and costs money
    const { id } = (await created.json()) as { id: number };
    try {
      return await finished(id, signal);
    } catch (error) {
      await api('DELETE', id);
      throw error;
    }
  }, options);

const results = await Promise.all(Array.from({ length: 8 }, () => render()));
console.log(results.length, 'jobs', jobs.snapshot().concurrency.inFlight); // 8 jobs 0
