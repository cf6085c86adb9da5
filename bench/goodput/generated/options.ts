/** The command-line options of runs of generated providers. */
import {
  type Arguments,
  CONCURRENCY,
  choose,
  parseArguments,
  readInteger,
  readSvgPath,
  readThreads,
  refuse,
  UsageError,
} from '../arguments.ts';
import { globalTime } from '../virtual-time.ts';
import {
  type GeneratedClientName,
  generatedClientNames,
  generatedClients,
  isGeneratedClientName,
} from './clients/index.ts';
import type { StallTimes } from './stalls.ts';

/** The options of a run of many providers. */
export interface SpaceOptions {
  readonly kind: 'space';
  readonly seeds: readonly number[];
  readonly clients: readonly GeneratedClientName[];
  readonly concurrency: number;
  /** Undefined: nothing stalls. */
  readonly stalls: StallTimes | undefined;
  readonly threads: number;
  readonly json: boolean;
}

/** The options of a trace of one provider. */
export interface TraceOptions {
  readonly kind: 'trace';
  readonly seed: number;
  readonly client: GeneratedClientName;
  readonly concurrency: number;
  /** Undefined: nothing stalls. */
  readonly stalls: StallTimes | undefined;
  readonly trace: boolean;
  /** The file for the picture; undefined: no picture. */
  readonly svg: string | undefined;
  readonly json: boolean;
}

const NAMED_ALONE = ['seconds', 'finish', 'chart', 'markdown'] as const;

/**
 * @returns undefined if named scenarios are to be run
 * @throws UsageError; TypeError of `parseArgs`
 */
export function readGenerated(args: string[]): SpaceOptions | TraceOptions | undefined {
  const values = parseArguments(args);
  const { scenario, generated } = values;
  if (generated !== undefined) return readSpace(values, generated);
  if (scenario !== undefined && /^\d+$/.test(scenario)) return readTrace(values, scenario);
  return undefined;
}

function readSpace(values: Arguments, generated: string): SpaceOptions {
  refuse(values, [...NAMED_ALONE, 'scenario'], 'the named scenarios');
  refuse(values, ['trace', 'svg'], '--scenario SEED');
  const first = readInteger('--seed', values.seed ?? '1', 0);
  const count = readInteger('--generated', generated, 1);
  return {
    kind: 'space',
    seeds: Array.from({ length: count }, (_, index) => first + index),
    clients: readClients(values),
    concurrency: readConcurrency(values),
    stalls: readStalls(values),
    threads: readThreads(values),
    json: values.json ?? false,
  };
}

function readTrace(values: Arguments, scenario: string): TraceOptions {
  refuse(values, NAMED_ALONE, 'the named scenarios');
  refuse(values, ['seed', 'threads'], '--generated or the named scenarios');
  const [client, ...others] = readClients(values);
  if (client === undefined || others.length > 0) {
    throw new UsageError(
      `--client must be one client with --scenario SEED, got "${values.client}"`,
    );
  }
  return {
    kind: 'trace',
    seed: readInteger('--scenario', scenario, 0),
    client,
    concurrency: readConcurrency(values),
    stalls: readStalls(values),
    trace: values.trace ?? false,
    svg: values.svg === undefined ? undefined : readSvgPath('--svg', values.svg),
    json: values.json ?? false,
  };
}

function readClients({ client = 'headgate' }: Arguments): readonly GeneratedClientName[] {
  if (client === 'all') return generatedClientNames;
  return choose('--client', client, generatedClientNames).filter(isGeneratedClientName);
}

/** @throws UsageError */
function readStalls(values: Arguments): StallTimes | undefined {
  const { stalls } = values;
  if (stalls === undefined) return undefined;
  const [, stalled, running] = /^(\d+)\/(\d+)$/.exec(stalls) ?? [];
  const times = { stalledMs: Number(stalled), runningMs: Number(running) };
  if (!(times.stalledMs > 0 && times.runningMs > 0)) {
    throw new UsageError(`--stalls must be two integers >= 1 such as 50/50, got "${stalls}"`);
  }
  const client = readClients(values).find((name) => generatedClients[name].time === globalTime);
  if (client === undefined) return times;
  throw new UsageError(`--stalls needs clients that are given a clock, got --client "${client}"`);
}

function readConcurrency({ concurrency }: Arguments): number {
  return readInteger('--concurrency', concurrency ?? `${CONCURRENCY}`, 1);
}
