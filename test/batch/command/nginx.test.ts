import { expect, it } from 'vitest';
import { hasNginx, startNginx } from '../../../bench/batch/nginx.ts';
import { isLong } from '../../support/runs.ts';
import { prompts, rig } from './command.ts';

const PER_SECOND = 20;
const BURST = 10;

if (!hasNginx) console.log('nginx is not on this machine: what runs against it is left out');

const LINES = isLong ? 2_000 : 100;

it.runIf(hasNginx)(
  'nginx gets each request once, whatever it rejects',
  async (test) => {
    const { write, run, results, server } = await rig(test, { delayMs: () => 50 });
    const nginx = await startNginx(server.port, PER_SECOND, BURST);
    test.onTestFinished(() => nginx.close());
    write('in.jsonl', prompts(LINES));
    const args = ['in.jsonl', '--out', 'out.jsonl', '--base-url', nginx.url, '--json'];
    const { code, stdout } = await run(args);
    expect(code, stdout).toBe(0);
    const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    const idealMs = ((LINES - BURST) / PER_SECOND) * 1_000;
    const ratio = (report.elapsedMs / idealMs).toFixed(3);
    console.log(`nginx, ${LINES} lines: ${ratio} of the ideal time, ${report.rejected} 429s`);
    expect(new Set(results().map(({ custom_id }) => custom_id)).size).toBe(LINES);
    expect(results()).toHaveLength(LINES);
    expect([...server.counts.values()].every((count) => count === 1)).toBe(true);
    expect(report.rejected).toBeLessThan(LINES);
  },
  600_000,
);
