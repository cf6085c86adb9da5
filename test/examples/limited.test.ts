import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../examples/batch/report.ts';
import { runProgram, startServer, temporaryFolder } from './program.ts';

/** Real processes and real time, but no upper bound on it: a busy machine may be slow. */
describe.concurrent('a run with limits', () => {
  it('keeps to its limits, and reports them', async (test) => {
    const server = await startServer(test, {});
    const folder = await temporaryFolder(test);
    const config = join(folder, 'limits.json');
    const limits = { requests: { limit: 20, windowMs: 1_000 } };
    await writeFile(config, JSON.stringify({ limits, concurrency: 40 }));
    const args = ['--limit', '60', '--base-url', server.url, '--config', config];
    const { code, stdout } = await runProgram(test, ['--json', ...args], {
      HEADGATE_ADAPTIVE: 'false',
      HEADGATE_CONCURRENCY: '50',
      HEADGATE_TOKENS_PER_MINUTE: '1000000',
    });
    const report: Report = JSON.parse(stdout);
    expect(report).toMatchObject({ succeeded: 60, attempts: 60, rejected: 0 });
    expect(report.elapsedMs).toBeGreaterThanOrEqual(2_000);
    expect(report.limits).toMatchObject({
      concurrency: 40,
      rate: null,
      rateLimit: {
        requests: { limit: 20, windowMs: 1_000 },
        // As the answers say, not as was estimated; on a busy machine the first leave the window.
        tokens: {
          limit: 1_000_000,
          windowMs: 60_000,
          used: report.elapsedMs < 50_000 ? report.tokens : expect.any(Number),
        },
      },
    });
    expect(report.tokens).toBeGreaterThan(0);
    // How many, depends on how fast the first ones come.
    expect(report.waits.rateLimit.requests).toBeGreaterThan(0);
    expect(code).toBe(0);
  });

  it('has the demo keep to its requests a minute, which lasts three seconds', async (test) => {
    const { code, stdout, stderr } = await runProgram(test, ['--limit', '24', '--rpm', '12']);
    expect(stdout).toMatch(/^ {2}rate +\d+\.\d+ .*, as your limits allow/m);
    expect(stdout).toMatch(/^ {2}requests +12 +\d+ {2}in 3\.00 s/m);
    // So many wait that it says so even where a busy machine sends the first ones slowly. The limit
    // bursts, and the pace follows what answers tell: either may bind as a line is printed.
    expect(stderr).toMatch(/waiting +\d+ for (rate|pace) .*\/s (limit|headers)/);
    expect(code).toBe(0);
  });

  it('counts the tokens that an answer may take', async (test) => {
    const server = await startServer(test, {});
    const prompts = join(await temporaryFolder(test), 'prompts.jsonl');
    const lines = [
      { prompt: 'a', max_tokens: 90 },
      { id: 'long', prompt: 'a', max_tokens: 100 },
    ];
    await writeFile(prompts, lines.map((line) => JSON.stringify(line)).join('\n'));
    const args = ['--json', '--prompts', prompts, '--base-url', server.url, '--tpm', '100'];
    const { code, stdout } = await runProgram(test, args);
    const { succeeded, failed, failures }: Report = JSON.parse(stdout);
    expect({ succeeded, failed, sent: server.requests.length }).toEqual({
      succeeded: 1,
      failed: 1,
      sent: 1,
    });
    expect(failures[0]?.error).toMatch(/^a cost of 10\d can never pass the limit "tokens"/);
    expect(failures[0]?.ids).toEqual(['long']);
    expect(code).toBe(1);
  });
});
