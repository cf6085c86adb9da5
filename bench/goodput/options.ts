/** What the command line says. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { choose, listOf, readInteger, UsageError } from '../arguments.ts';
import { type ClientName, clientNames, isClientName, tableClients } from './clients/index.ts';
import { families } from './families.ts';
import type { Job } from './job.ts';
import { readScenario, ScenarioError } from './read-scenario.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

/** Seeds that nothing was tuned with; 1, 2 and 3 are there to tune with. */
export const SEEDS: readonly number[] = [101, 102, 103];

const CHART = 'build/goodput.svg';

export const USAGE = `usage: npm run bench:goodput -- [options]
  --scenario a,b     scenarios by name, or files that end in .json; a * at the end stands for anything
  --client a,b       clients by name; a * at the end stands for anything
  --seed 101,102     default ${SEEDS.join(',')}. What was tuned was tuned with 1,2,3
  --seconds N        virtual seconds of each run, instead of the scenario's own
  --threads N        default: one a core, at most 8
  --chart file.svg   where the chart goes; default ${CHART}
  --finish           how long 2,000 prompts take against each family of providers, instead
  --markdown         prints the table as the README has it
  --json             prints one object last`;

export interface Options {
  readonly json: boolean;
  readonly markdown: boolean;
  readonly scenarios: readonly Scenario[];
  readonly clients: readonly ClientName[];
  readonly seeds: readonly number[];
  readonly threads: number;
  readonly chart: string;
  readonly kind: Job['kind'];
}

/** @throws UsageError; TypeError of `parseArgs` */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      scenario: { type: 'string', default: '*' },
      client: { type: 'string' },
      finish: { type: 'boolean', default: false },
      seed: { type: 'string', default: SEEDS.join(',') },
      seconds: { type: 'string' },
      threads: { type: 'string', default: `${Math.min(8, availableParallelism())}` },
      chart: { type: 'string', default: CHART },
    },
  });
  const { seconds, chart, client, finish } = values;
  if (!chart.endsWith('.svg')) {
    throw new UsageError(`--chart must be a file that ends in .svg, got "${chart}"`);
  }
  const chosen = readScenarios(values.scenario, finish ? families : scenarios);
  return {
    json: values.json,
    markdown: values.markdown,
    scenarios:
      seconds === undefined
        ? chosen
        : chosen.map((one) => ({ ...one, seconds: readInteger('--seconds', seconds, 1) })),
    clients:
      client === undefined
        ? finish
          ? clientNames
          : tableClients
        : choose('--client', client, clientNames).filter(isClientName),
    seeds: listOf(values.seed).map((seed) => readInteger('--seed', seed, 0)),
    threads: readInteger('--threads', values.threads, 1),
    chart,
    kind: finish ? 'finish' : 'goodput',
  };
}

function readScenarios(text: string, known: readonly Scenario[]): Scenario[] {
  const byName = new Map(known.map((scenario) => [scenario.name, scenario]));
  const found = new Map<string, Scenario>();
  for (const word of listOf(text)) {
    for (const scenario of word.endsWith('.json')
      ? [readFile(word)]
      : choose('--scenario', word, [...byName.keys()]).map((name) => byName.get(name))) {
      if (scenario !== undefined) found.set(scenario.name, scenario);
    }
  }
  return [...found.values()];
}

function readFile(path: string): Scenario {
  try {
    return readScenario(path);
  } catch (error) {
    throw error instanceof ScenarioError ? new UsageError(error.message) : error;
  }
}
