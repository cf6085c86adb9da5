import { setTimeout as sleep } from 'node:timers/promises';
import { clients } from './clients/index.ts';
import { countEnds } from './ends.ts';
import type { Job, Run } from './job.ts';
import { countFetches } from './meter.ts';

/** Runs one client in this process, until it ends or reaches its bound. */
export async function runJob(job: Job): Promise<Run> {
  const counts = countFetches(job.endpoint.url);
  const ends = countEnds();
  const startMs = performance.now();
  const bound = new AbortController();
  const isEnded = await Promise.race([
    clients[job.client].run({ ...job, ended: ends.ended }).then(() => true),
    sleep(job.boundMs, false, { signal: bound.signal }),
  ]).finally(() => bound.abort());
  const ms = performance.now() - startMs;
  return { ...counts(), ms, isEnded, ends: ends.counts() };
}
