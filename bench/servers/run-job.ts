import { setTimeout as sleep } from 'node:timers/promises';
import { clients } from './clients/index.ts';
import type { Job, Run } from './job.ts';
import { countFetches } from './meter.ts';

/** Runs one client in this process, until it ends or its bound. */
export async function runJob(job: Job): Promise<Run> {
  const counts = countFetches(job.endpoint.url);
  const startMs = performance.now();
  const bound = new AbortController();
  const isEnded = await Promise.race([
    clients[job.client].run(job).then(() => true),
    sleep(job.boundMs, false, { signal: bound.signal }),
  ]).finally(() => bound.abort());
  const ms = performance.now() - startMs;
  const { lastMs, ...answers } = counts();
  return { ...answers, ms, isEnded, quietMs: performance.now() - Math.max(startMs, lastMs) };
}
