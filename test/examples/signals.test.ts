import { join } from 'node:path';
import type { ProviderServer } from 'headgate/simulator';
import { describe, expect, it, vi } from 'vitest';
import type { Report } from '../../examples/batch/report.ts';
import { readResults, startProgram, startServer, temporaryFolder } from './program.ts';

/** Real processes and real time: signals have no other. */
const HANGING = { latency: 3_600_000 };
/** For how long a program may start: on a busy machine that is what takes longest. */
const STARTS_MS = 120_000;

function sent(server: ProviderServer, count: number): Promise<void> {
  const atLeast = () => expect(server.requests.length).toBeGreaterThanOrEqual(count);
  return vi.waitFor(atLeast, { timeout: STARTS_MS, interval: 10 });
}

describe.concurrent('a signal', () => {
  it('lets what is in flight finish, and keeps all results', async (test) => {
    const server = await startServer(test, { latency: 200 });
    const out = join(await temporaryFolder(test), 'results.jsonl');
    const target = ['--base-url', server.url, '--out', out];
    const program = startProgram(test, ['--json', '--concurrency', '3', ...target]);
    await sent(server, 8);
    program.process.kill('SIGINT');
    const { code, stdout, stderr } = await program.ended;
    const report: Report = JSON.parse(stdout);
    expect(report).toMatchObject({ ended: 'SIGINT', failed: 0, prompts: 320 });
    expect(report.succeeded).toBe(server.requests.length);
    expect(report.succeeded + report.unfinished).toBe(320);
    expect(server.requests.every(({ status }) => status === 200)).toBe(true);
    expect(stderr).toMatch(/SIGINT: waiting up to 5 s for [123] in flight/);
    expect(await readResults(out)).toHaveLength(report.succeeded);
    expect(code).toBe(130);
  });

  it('aborts after 5 s what does not finish', async (test) => {
    const server = await startServer(test, HANGING);
    const program = startProgram(test, ['--json', '--concurrency', '2', '--base-url', server.url]);
    await sent(server, 2);
    program.process.kill('SIGTERM');
    // The answers would come in an hour.
    const { code, stdout } = await program.ended;
    expect(JSON.parse(stdout)).toMatchObject({ ended: 'SIGTERM', succeeded: 0, unfinished: 320 });
    expect(code).toBe(143);
    await vi.waitFor(() =>
      expect(server.requests.map(({ aborted }) => aborted)).toEqual([true, true]),
    );
  });

  it('waits for no rate limit', async (test) => {
    const server = await startServer(test, {});
    const args = ['--json', '--rpm', '3', '--base-url', server.url];
    const program = startProgram(test, args, { HEADGATE_ADAPTIVE: 'false' });
    await sent(server, 3);
    await vi.waitFor(() => expect(program.stderr()).toMatch(/ 3\/320 .* for rate/), STARTS_MS);
    program.process.kill('SIGINT');
    // One that waited would send a fourth request.
    const { code, stdout, stderr } = await program.ended;
    expect(JSON.parse(stdout)).toMatchObject({ succeeded: 3, failed: 0, unfinished: 317 });
    expect(stderr).toContain('SIGINT: nothing is in flight');
    expect(server.requests).toHaveLength(3);
    expect(code).toBe(130);
  });

  it('ends the process at once when it comes twice', async (test) => {
    const server = await startServer(test, HANGING);
    const program = startProgram(test, ['--concurrency', '2', '--base-url', server.url]);
    await sent(server, 2);
    program.process.kill('SIGINT');
    await vi.waitFor(() => expect(program.stderr()).toContain('again to end at once'), {
      timeout: STARTS_MS,
      interval: 10,
    });
    program.process.kill('SIGINT');
    const { code, stdout } = await program.ended;
    // One that ends by itself, 5 s after the first signal, reports.
    expect(stdout).toBe('');
    expect(code).toBe(130);
  });

  it('is not needed when nobody reads the report', async (test) => {
    const server = await startServer(test, {});
    const program = startProgram(test, ['--limit', '20', '--base-url', server.url]);
    program.process.stdout?.destroy();
    const { code, stderr } = await program.ended;
    expect(stderr).not.toContain('EPIPE');
    expect(code).toBe(0);
  });
});
