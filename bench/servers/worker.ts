/** A process that runs one client: told a job, it prints what came of it. */
import { send } from './client.ts';
import type { Job } from './job.ts';
import { listen } from './listen.ts';
import { runJob } from './run-job.ts';

const WARM_UP_ROUNDS = 5;
const WARM_UP_REQUESTS = 50;

// The other end is the bench: without it nobody wants to know.
process.stdin.on('end', () => process.exit()).resume();

const job: Job = JSON.parse(process.argv[2] ?? '');
await warmUp();
const run = await runJob(job);
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
