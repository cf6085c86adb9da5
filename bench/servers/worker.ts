/** A process that runs one client: told a job, it prints what came of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from './client.ts';
import { clients } from './clients/index.ts';
import type { Job, Run } from './job.ts';
import { listen } from './listen.ts';
import { countFetches } from './meter.ts';

const WARM_UP_ROUNDS = 5;
const WARM_UP_REQUESTS = 50;

// The other end is the bench: without it nobody wants to know.
process.stdin.on('end', () => process.exit()).resume();

const job: Job = JSON.parse(process.argv[2] ?? '');
if (!job.isCold) await warmUp();
const counts = countFetches();
const startMs = performance.now();
const isEnded = await Promise.race([
  clients[job.client].run(job).then(() => true),
  sleep(job.boundMs, false),
]);
const ms = performance.now() - startMs;
const { lastMs, ...answers } = counts();
const quietMs = performance.now() - Math.max(startMs, lastMs);
const run: Run = { ...answers, ms, isEnded, quietMs };
// A client that was stopped by the bound may have much left to do.
process.stdout.write(JSON.stringify(run), () => process.exit());

/** The first requests of a process take long, which no limit has to do with. They need not succeed. */
async function warmUp(): Promise<void> {
  const { endpoint, close } = await listen((_, response) => response.end());
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await Promise.all(
      Array.from({ length: WARM_UP_REQUESTS }, () => send(endpoint).catch(() => undefined)),
    );
  }
  await close();
}
