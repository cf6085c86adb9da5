/** A thread that runs one job after another, with its own globals. */
import { parentPort } from 'node:worker_threads';
import { clients } from './clients/index.ts';
import { generatedClients } from './generated/clients/index.ts';
import { runGenerated } from './generated/run.ts';
import { drawScenario } from './generated/space.ts';
import type { Answer, GeneratedJob, Job } from './job.ts';
import { runCell, runToFinish } from './run-cell.ts';

parentPort?.on('message', async (job: Job | GeneratedJob) => {
  parentPort?.postMessage(await answer(job));
});

async function answer(job: Job | GeneratedJob): Promise<Answer> {
  try {
    return await run(job);
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { status: 'failed', reason };
  }
}

async function run(job: Job | GeneratedJob): Promise<Answer> {
  const { kind, seed } = job;
  switch (kind) {
    case 'goodput':
      return { status: 'ok', kind, run: await runCell(job.scenario, clients[job.client], seed) };
    case 'finish': {
      const client = clients[job.client];
      return { status: 'ok', kind, run: await runToFinish(job.scenario, client, seed) };
    }
    case 'generated': {
      const client = generatedClients[job.client];
      const { concurrency, stalls } = job;
      return {
        status: 'ok',
        kind,
        run: await runGenerated(drawScenario(seed), client, { concurrency, stalls }),
      };
    }
  }
}
