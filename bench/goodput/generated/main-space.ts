/** Runs clients against many generated providers, and prints the report. */
import type { GeneratedJob } from '../job.ts';
import { runJobs } from '../pool.ts';
import { figuresBy, figuresOf, type GeneratedRun, isLong, isPlain, traits } from './figures.ts';
import type { SpaceOptions } from './options.ts';
import { printSpaceHead, printSummary, printTraits, printWorst } from './report.ts';
import { drawScenario } from './space.ts';

export async function reportSpace(options: SpaceOptions): Promise<void> {
  const { seeds, clients, concurrency, stalls, threads, json } = options;
  const jobs = clients.flatMap((client) =>
    seeds.map((seed): GeneratedJob => ({ kind: 'generated', client, seed, concurrency, stalls })),
  );
  const startMs = performance.now();
  const answers = await runJobs(jobs, threads);
  const seconds = (performance.now() - startMs) / 1_000;
  const byClient = new Map<string, GeneratedRun[]>(clients.map((name) => [name, []]));
  const failures: Record<string, string> = {};
  jobs.forEach(({ client, seed }, index) => {
    const answer = answers[index];
    if (answer?.status === 'ok' && answer.kind === 'generated') {
      byClient.get(client)?.push({ scenario: drawScenario(seed), ...answer.run });
    } else {
      failures[`${client} ${seed}`] =
        answer?.status === 'failed' ? answer.reason : 'the thread ended';
    }
  });
  printSpaceHead(options);
  printSummary(byClient);
  for (const [client, runs] of byClient) {
    const long = runs.filter(({ scenario }) => isLong(scenario));
    printTraits(client, long);
    printWorst(client, long);
  }
  console.log(`\n${jobs.length} runs took ${seconds.toFixed(1)} s`);
  for (const [name, reason] of Object.entries(failures)) {
    console.log(`\n${name} failed: ${reason}`);
    process.exitCode = 1;
  }
  if (json) console.log(`\n${JSON.stringify({ ...asJson(byClient), failures, concurrency })}`);
}

function asJson(byClient: ReadonlyMap<string, readonly GeneratedRun[]>): object {
  const figures = [...byClient].map(([client, runs]) => {
    const long = runs.filter(({ scenario }) => isLong(scenario));
    const figuresOfClient = {
      all: figuresOf(long),
      plain: figuresOf(long.filter(({ scenario }) => isPlain(scenario))),
      shorter: figuresOf(runs.filter(({ scenario }) => !isLong(scenario))),
      by: Object.fromEntries(traits.map((trait) => [trait, figuresBy(trait, long)])),
      runs: runs.map(({ scenario, ...score }) => ({ seed: scenario.seed, ...score })),
    };
    return [client, figuresOfClient];
  });
  return { clients: Object.fromEntries(figures), node: process.version };
}
