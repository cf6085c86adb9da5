/** The options of the command line. */
import { parseArgs } from 'node:util';
import { choose, listOf, readInteger, UsageError } from '../arguments.ts';

const SECONDS = 10;
const PROCESSES = '2,4,8,16';
const MOST_PROCESSES = 64;
const WORKERS = 1_000;

/** The measurements. Each gives several figures. */
export const PARTS = [
  'limits',
  'churn',
  'calls',
  'waits',
  'restart',
  'kill',
  'virtual',
  'peers',
] as const;
export type Part = (typeof PARTS)[number];

export const USAGE = `usage: npm run bench:fleet -- [options]
  --processes a,b  default ${PROCESSES}: how many workers, each a process
  --workers N      default ${WORKERS}: workers in virtual time
  --seconds N      default ${SECONDS}: how long a load lasts; 5 or more give windows that say something
  --part a,b       any of ${PARTS.join(', ')}; default: all
  --json           prints one object last`;

export interface Options {
  readonly json: boolean;
  readonly processes: readonly number[];
  readonly workers: number;
  readonly seconds: number;
  readonly parts: readonly Part[];
}

/** @throws UsageError; TypeError of `parseArgs` */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      processes: { type: 'string', default: PROCESSES },
      workers: { type: 'string', default: `${WORKERS}` },
      seconds: { type: 'string', default: `${SECONDS}` },
      part: { type: 'string', default: '*' },
    },
  });
  return {
    json: values.json,
    processes: listOf(values.processes).map(readProcesses),
    workers: readInteger('--workers', values.workers, 2),
    seconds: readInteger('--seconds', values.seconds, 2),
    parts: choose('--part', values.part, PARTS).filter(isPart),
  };
}

function readProcesses(text: string): number {
  const count = readInteger('--processes', text, 2);
  if (count > MOST_PROCESSES) {
    throw new UsageError(`--processes must be at most ${MOST_PROCESSES}, got "${text}"`);
  }
  return count;
}

function isPart(name: string): name is Part {
  return (PARTS as readonly string[]).includes(name);
}
