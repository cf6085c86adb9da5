import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long, the longest first. They would be waited for, if they began last. */
const LONG = [
  'test/bench-servers/real.test.ts',
  'test/batch/command/workers.test.ts',
  // These compute, while the ones around them wait.
  'test/laws/laws.test.ts',
  'test/behaviour/telemetry/growth.test.ts',
  'test/readme.test.ts',
  'test/batch/command/crash.test.ts',
  'test/fleet/processes/network.test.ts',
  'test/batch/command/servers.test.ts',
  'test/fleet/processes/store-faults.test.ts',
  'test/soak/http.test.ts',
  'test/package.test.ts',
  'test/fleet/processes/kills.test.ts',
  'test/batch/command/run.test.ts',
  'test/inspector/page.test.ts',
  'test/examples/dashboards.test.ts',
  'test/bullmq/processes.test.ts',
  'test/fleet/learning.test.ts',
];

/**
 * Runs long test files before the others: a machine that has run none of them knows only their
 * sizes. Of the others, those that start programs come before those that compute: a program that is
 * waited for at the end leaves the processors idle.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONG.findIndex((path) => moduleId.endsWith(path));
      return index === -1 ? LONG.length : index;
    };
    const computes = ({ project }: TestSpecification) => Number(project.name !== 'compiled');
    const sorted = await super.sort(files);
    return sorted.sort(
      (a, b) =>
        a.project.config.sequence.groupOrder - b.project.config.sequence.groupOrder ||
        rank(a) - rank(b) ||
        computes(a) - computes(b),
    );
  }
}
