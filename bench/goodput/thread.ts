/** A thread that runs one job after the other; its globals are its own. */
import { parentPort } from 'node:worker_threads';
import { clients } from './clients/index.ts';
import type { Answer, Job } from './job.ts';
import { runCell, runToFinish } from './run-cell.ts';

parentPort?.on('message', async (job: Job) => {
  parentPort?.postMessage(await answer(job));
});

async function answer({ scenario, client, seed, kind }: Job): Promise<Answer> {
  try {
    return kind === 'goodput'
      ? { status: 'ok', kind, run: await runCell(scenario, clients[client], seed) }
      : { status: 'ok', kind, run: await runToFinish(scenario, clients[client], seed) };
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { status: 'failed', reason };
  }
}
