import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Slow test files, the slowest first. A slow file that begins last delays the end of the run. */
const LONG = [
  'test/bench-servers/real',
  'test/batch/command/workers',
  // These files compute, while the files before and after them wait for processes.
  'test/laws/laws',
  'test/behaviour/telemetry/growth',
  'test/readme',
  'test/batch/command/crash',
  'test/fleet/processes/network',
  'test/batch/command/servers',
  'test/fleet/processes/store-faults',
  'test/soak/http',
  'test/package',
  'test/fleet/processes/kills',
  'test/batch/command/run',
  'test/inspector/page',
  'test/examples/dashboards',
  'test/bullmq/processes',
  'test/behaviour/limiter/adaptive/laws-limits',
  'test/behaviour/limiter/adaptive/laws-rate',
  'test/sdk/retries',
  'test/end-to-end/restart',
  'test/batch/command-output',
  'test/fleet/learning',
  'test/dashboards/queries',
  'test/redis/index',
];

/**
 * Runs slow test files before the others: without earlier runs, vitest knows only the sizes of
 * files. Of the other files, those that start programs come before those that compute: waiting for
 * a program at the end leaves the processors idle.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const name = moduleId.replace(/\.test\.[jt]s$/, '');
      const index = LONG.findIndex((path) => name.endsWith(path));
      return index === -1 ? LONG.length : index;
    };
    const computes = ({ project }: TestSpecification) => Number(project.name !== 'compiled');
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rank(a) - rank(b) || computes(a) - computes(b));
  }
}
