/** What the command line says. */
import { parseArgs } from 'node:util';
import type { Job } from './job.ts';
import { type Name, planJobs } from './jobs.ts';

const MIN_ROUNDS = 5;
const MIN_TASKS = 1_000;

export interface Options {
  readonly json: boolean;
  readonly rounds: number;
  readonly jobs: ReadonlyMap<Name, Job>;
}

export class UsageError extends Error {}

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
  const names = [...jobs.keys()];
  const wanted = new Set<string>();
  for (const pattern of values.only.split(',').map((name) => name.trim())) {
    const found = names.filter((name) => isMatch(name, pattern));
    if (found.length === 0) {
      throw new UsageError(`--only takes any of ${names.join(', ')}; got "${pattern}"`);
    }
    for (const name of found) wanted.add(name);
  }
  const chosen = new Map([...jobs].filter(([name]) => wanted.has(name)));
  return { json: values.json, rounds, jobs: chosen };
}

/** A `*` at the end stands for anything. */
function isMatch(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function readInteger(option: string, text: string, min: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < min) {
    throw new UsageError(`${option} must be an integer >= ${min}, got "${text}"`);
  }
  return value;
}
