/** The options of the command line. */
import { parseArgs } from 'node:util';
import { choose, readInteger } from './arguments.ts';
import type { Job } from './job.ts';
import { type Name, planJobs } from './jobs.ts';

const MIN_ROUNDS = 5;
const MIN_TASKS = 1_000;

export interface Options {
  readonly json: boolean;
  readonly rounds: number;
  readonly jobs: ReadonlyMap<Name, Job>;
}

/** @throws UsageError; TypeError of `parseArgs` */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: `${MIN_ROUNDS}` },
      tasks: { type: 'string', default: '200000' },
      only: { type: 'string' },
    },
  });
  const rounds = readInteger('--rounds', values.rounds, MIN_ROUNDS);
  const jobs = planJobs(readInteger('--tasks', values.tasks, MIN_TASKS));
  if (values.only === undefined) {
    return { json: values.json, rounds, jobs };
  }
  const wanted = new Set<string>(choose('--only', values.only, [...jobs.keys()]));
  const chosen = new Map([...jobs].filter(([name]) => wanted.has(name)));
  return { json: values.json, rounds, jobs: chosen };
}
