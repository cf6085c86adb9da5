/** A process that runs one client: it gets a job as argument, and prints the result. */
import { send } from './client.ts';
import type { Job } from './job.ts';
import { listen } from './listen.ts';
import { runJob } from './run-job.ts';

const WARM_UP_ROUNDS = 5;
const WARM_UP_REQUESTS = 50;

// Exit together with the bench, which is at the other end.
process.stdin.on('end', () => process.exit()).resume();

const job: Job = JSON.parse(process.argv[2] ?? '');
await warmUp();
const run = await runJob(job);
// Exit here: a client that reached its bound may still have work.
process.stdout.write(JSON.stringify(run), () => process.exit());

/** Sends requests before the measurement: the first ones of a process are slow. They may fail. */
async function warmUp(): Promise<void> {
  const { endpoint, close } = await listen((_, response) => response.end());
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await Promise.all(
      Array.from({ length: WARM_UP_REQUESTS }, () => send(endpoint).catch(() => undefined)),
    );
  }
  await close();
}
