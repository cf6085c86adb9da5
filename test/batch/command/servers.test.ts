import { describe, expect, it, type TestContext } from 'vitest';
import { LIMITING_SERVERS, missing } from '../../../bench/batch/limiters.ts';
import { isLong } from '../../support/runs.ts';
import { rig, type StartOptions } from './command.ts';
import { prompts } from './files.ts';

const LINES = isLong ? 2_000 : 120;
const CALL_MS = 50;

/** A server that limits, in front of one that answers, and the command on a file of prompts. */
async function limitedRig(test: TestContext, name: string) {
  const limiting = LIMITING_SERVERS[name];
  if (limiting === undefined) throw new Error(`no server ${name}`);
  const { write, run, startRun, results, server } = await rig(test, { delayMs: () => CALL_MS });
  const { url, close } = await limiting.start(server.port);
  test.onTestFinished(close);
  write('in.jsonl', prompts(LINES));
  const args = ['in.jsonl', '--out', 'out.jsonl', '--base-url', url, '--json'];
  return {
    server,
    results,
    run: async (more: readonly string[] = [], options: StartOptions = {}) => {
      const { code, stdout, stderr } = await run([...args, ...more], options);
      const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
      return { code, stderr, report };
    },
    start: () => startRun(args),
    idealMs: limiting.idealMs(LINES, CALL_MS),
  };
}

describe('servers of other projects', () => {
  for (const [name, limiting] of Object.entries(LIMITING_SERVERS)) {
    const why = missing(limiting);
    if (why !== undefined) console.log(`${name} is left out: ${why}`);

    it.skipIf(why !== undefined)(
      `${name} gets each request once, whatever it rejects`,
      async (test) => {
        const { run, results, server, idealMs } = await limitedRig(test, name);
        const { code, stderr, report } = await run();
        expect(code, stderr).toBe(0);
        const ratio = (report.elapsedMs / idealMs).toFixed(3);
        console.log(`${name}, ${LINES} lines: ${ratio} of the ideal, ${report.rejected} 429s`);
        expect(new Set(results().map(({ custom_id }) => custom_id)).size).toBe(LINES);
        expect(results()).toHaveLength(LINES);
        expect([...server.counts.values()].every((count) => count === 1)).toBe(true);
        expect(report.rejected).toBeLessThan(LINES);
      },
      900_000,
    );
  }

  const nginx = LIMITING_SERVERS['nginx limit_req'];
  it.skipIf(nginx === undefined || missing(nginx) !== undefined)(
    'nginx rejects almost nothing if its limit is given, or was learned by an earlier run',
    async (test) => {
      const { run, start, results, server } = await limitedRig(test, 'nginx limit_req');
      // Long enough that a rate is learned and written down; then it is killed.
      const called = server.nextCall();
      const { process: child, ended } = start();
      // A busy machine may need longer to start the command than the command is meant to run.
      await called;
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      child.kill('SIGINT');
      const first = JSON.parse((await ended).stdout.trimEnd().split('\n').at(-1) ?? '');
      const { report } = await run();
      expect(results()).toHaveLength(LINES);
      console.log(`learning: ${first.rejected} 429s, and ${report.rejected} after a restart`);
      const { report: told } = await run(['--rpm', '1200', '--overwrite', '--limit', '100']);
      expect(told.ok).toBe(100);
      expect(told.rejected).toBeLessThanOrEqual(5);
    },
    900_000,
  );
});
