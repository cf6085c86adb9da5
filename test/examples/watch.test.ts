import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import type { Running } from '../support/child-process.ts';
import { runProgram, startProgram, startServer } from './program.ts';

const HELD = /^the metrics stay at (\S+) until Ctrl-C$/m;

/** The page of metrics of a program whose run is over. */
async function heldPage(program: Running): Promise<string> {
  await vi.waitFor(() => expect(program.stderr()).toMatch(HELD), { timeout: 60_000 });
  return HELD.exec(program.stderr())?.[1] ?? '';
}

async function takenPort(test: TestContext): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  test.onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Real processes: what is tested is what is open while, and after, they run. */
describe.concurrent('telemetry of the main program', () => {
  it('serves metrics while it runs, at this machine alone', async (test) => {
    const server = await startServer(test, { latency: 3_600_000 });
    const program = startProgram(test, ['--limit', '3', '--base-url', server.url]);
    await vi.waitFor(() => expect(server.requests).toHaveLength(3), { timeout: 60_000 });
    const url =
      /^metrics: (http:\/\/127\.0\.0\.1:\d+\/metrics)$/m.exec(program.stderr())?.[1] ?? '';
    const page = await (await fetch(url)).text();
    expect(page).toMatch(/headgate_request_active\{headgate_name="batch",.*\} 3/);
    expect(page).toMatch(/target_info\{service_name="headgate-batch"/);
    await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
  });

  it('keeps them open with --hold, for containers too, until a signal ends it', async (test) => {
    const server = await startServer(test, {});
    const args = ['--limit', '3', '--json', '--hold', '--base-url', server.url];
    const program = startProgram(test, args);
    const url = await heldPage(program);
    expect(program.stderr()).toContain(`metrics: ${url}, open to other machines`);
    const everywhere = url.replace('127.0.0.1', '127.0.0.2');
    expect(await (await fetch(everywhere)).text()).toMatch(
      /headgate_requests_total\{headgate_name="batch",headgate_outcome="ok".*\} 3/,
    );
    program.process.kill('SIGINT');
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ ended: 'complete', succeeded: 3 });
    await expect(fetch(url)).rejects.toThrow();
  });

  it('tells the state of the limiter as long as it holds', async (test) => {
    const server = await startServer(test, {});
    const args = ['--limit', '3', '--concurrency', '7', '--hold', '--base-url', server.url];
    const program = startProgram(test, args);
    const page = await (await fetch(await heldPage(program))).text();
    const limit = 'headgate_concurrency_limit{headgate_name="batch",headgate_mode="normal"';
    const shown = (series: string) =>
      page
        .split('\n')
        .find((line) => line.startsWith(series))
        ?.split(' ')
        .at(-1);
    expect(shown(limit)).toBe('7');
    expect(shown('headgate_progress_expected{')).toBe('3');
    expect(shown('headgate_progress_completed{')).toBe('3');
  });

  it('listens where OTEL_EXPORTER_PROMETHEUS_HOST says, with --hold too', async (test) => {
    const server = await startServer(test, {});
    const args = ['--limit', '1', '--hold', '--base-url', server.url];
    const env = { OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1' };
    const program = startProgram(test, args, env);
    const url = await heldPage(program);
    expect(program.stderr()).toContain(`metrics: ${url}\n`);
    await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
  });

  it('holds nothing after a run that a signal has ended', async (test) => {
    const server = await startServer(test, { latency: 500 });
    const args = ['--concurrency', '1', '--hold', '--base-url', server.url];
    const program = startProgram(test, args);
    await vi.waitFor(() => expect(server.requests).toHaveLength(2), { timeout: 60_000 });
    program.process.kill('SIGINT');
    const { code, stderr } = await program.ended;
    expect(code).toBe(130);
    expect(stderr).not.toMatch(HELD);
  });

  it('goes on where the port is in use, says so in a line, and holds nothing', async (test) => {
    const server = await startServer(test, {});
    const port = await takenPort(test);
    const args = ['--limit', '2', '--json', '--hold', '--base-url', server.url];
    const env = { OTEL_EXPORTER_PROMETHEUS_PORT: String(port) };
    const { code, stdout, stderr } = await runProgram(test, args, env);
    expect(stderr.split('\n').filter((line) => line.includes('in use'))).toEqual([
      `headgate telemetry: no page of metrics at 0.0.0.0:${port}: the port is in use`,
    ]);
    expect(stderr).toContain('nothing to hold: there is no page of metrics\n');
    expect(JSON.parse(stdout)).toMatchObject({ succeeded: 2 });
    expect(code).toBe(0);
  });

  it('says where OTLP goes, and goes on when nobody is there', async (test) => {
    const server = await startServer(test, {});
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const args = ['--limit', '2', '--json', '--base-url', server.url];
    const { code, stdout, stderr } = await runProgram(test, args, env);
    expect(stderr).toContain('metrics by OTLP to http://127.0.0.1:9\n');
    expect(stderr).toContain('traces by OTLP to http://127.0.0.1:9\n');
    expect(stderr).toContain('headgate telemetry: traces could not be exported');
    expect(JSON.parse(stdout)).toMatchObject({ succeeded: 2 });
    expect(code).toBe(0);
  });

  it('has none where OTEL_SDK_DISABLED is true', async (test) => {
    const server = await startServer(test, {});
    const args = ['--limit', '1', '--base-url', server.url];
    const { code, stderr } = await runProgram(test, args, { OTEL_SDK_DISABLED: 'true' });
    expect(stderr).not.toContain('metrics');
    expect(code).toBe(0);
  });
});
