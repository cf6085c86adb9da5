/** Measures every job of a run, each in fresh processes. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isClientName } from './clients/index.ts';
import type { Job, Measured } from './job.ts';
import type { Name } from './jobs.ts';
import type { Options } from './options.ts';
import { reasonOf } from './reason.ts';
import { unitOf, whole } from './text.ts';

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url));
const WORKER_TIMEOUT_MS = 10 * 60_000;

export interface Results {
  /** Tasks/s of a client, bytes of `waiting-*`, nanoseconds of all else: one a round. */
  readonly runs: ReadonlyMap<Name, number[]>;
  readonly failures: ReadonlyMap<Name, string>;
}

/** Every round measures each job once, so that disturbances of the machine affect all jobs. */
export async function measureAll({ jobs, rounds }: Options): Promise<Results> {
  const runs = new Map<Name, number[]>([...jobs.keys()].map((name) => [name, []]));
  const failures = new Map<Name, string>();
  for (let round = 1; round <= rounds; round++) {
    for (const [name, job] of jobs) {
      if (failures.has(name)) {
        continue;
      }
      try {
        const { perTask } = await measure(job);
        const figure = isClientName(name) ? 1e9 / perTask : perTask;
        runs.get(name)?.push(figure);
        console.error(`round ${round}/${rounds}  ${name}: ${whole(figure)} ${unitOf(name)}`);
      } catch (error) {
        failures.set(name, reasonOf(error));
        runs.delete(name);
        console.error(`round ${round}/${rounds}  ${name} failed: ${error}`);
      }
    }
  }
  return { runs, failures };
}

async function measure(job: Job): Promise<Measured> {
  const flags = job.measure === 'memory' ? ['--expose-gc'] : [];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, WORKER, JSON.stringify(job)],
    { timeout: WORKER_TIMEOUT_MS },
  );
  const measured: Measured = JSON.parse(stdout);
  return measured;
}
