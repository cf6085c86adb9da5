/** The command-line options of runs of named scenarios. */
import {
  type Arguments,
  CHART,
  choose,
  listOf,
  parseArguments,
  readInteger,
  readSvgPath,
  readThreads,
  refuse,
  SEEDS,
  UsageError,
} from './arguments.ts';
import { type ClientName, clientNames, isClientName, tableClients } from './clients/index.ts';
import { families } from './families.ts';
import type { Job } from './job.ts';
import { readScenario, ScenarioError } from './read-scenario.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

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
  const values = parseArguments(args);
  refuse(values, ['trace', 'svg'], '--scenario SEED');
  refuse(values, ['concurrency', 'stalls'], '--generated or --scenario SEED');
  const { finish = false, seconds, seed } = values;
  const chosen = readScenarios(values.scenario ?? '*', finish ? families : scenarios);
  return {
    json: values.json ?? false,
    markdown: values.markdown ?? false,
    scenarios:
      seconds === undefined
        ? chosen
        : chosen.map((one) => ({ ...one, seconds: readInteger('--seconds', seconds, 1) })),
    clients: readClients(values),
    seeds: seed === undefined ? SEEDS : listOf(seed).map((one) => readInteger('--seed', one, 0)),
    threads: readThreads(values),
    chart: readSvgPath('--chart', values.chart ?? CHART),
    kind: finish ? 'finish' : 'goodput',
  };
}

function readClients({ client, finish = false }: Arguments): readonly ClientName[] {
  if (client !== undefined) return choose('--client', client, clientNames).filter(isClientName);
  return finish ? clientNames : tableClients;
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
