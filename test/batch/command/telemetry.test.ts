import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, inject, it, type TestContext } from 'vitest';
import { rig, start } from './command.ts';
import { prompts } from './files.ts';

/** Receives OTLP over HTTP, and keeps the messages. */
async function collector(test: TestContext) {
  const bodies = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url ?? '';
    bodies.set(path, (bodies.get(path) ?? '') + Buffer.concat(chunks).toString('latin1'));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, bodies };
}

it('metrics and spans are exported to the address in the OTEL_* variables', async (test) => {
  const { run, write } = await rig(test);
  const { url, bodies } = await collector(test);
  write('in.jsonl', prompts(3));
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const header = ['--header', 'authorization: Bearer sk-secret'];
  const { code, stderr } = await run(['in.jsonl', '--out', 'out.jsonl', ...header], { env });
  expect([code, stderr]).toEqual([0, '']);
  expect(bodies.get('/v1/metrics')).toContain('headgate.request.duration');
  expect(bodies.get('/v1/traces')).toContain('headgate');
  for (const body of bodies.values()) expect(body).not.toContain('sk-secret');
});

it('without the packages of the SDK, or if it is disabled, nothing is printed', async (test) => {
  const { run, write, folder, server } = await rig(test);
  const { url, bodies } = await collector(test);
  write('in.jsonl', prompts(3));
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const disabled = { ...env, OTEL_SDK_DISABLED: 'true' };
  const ended = await run(['in.jsonl', '--out', 'disabled.jsonl'], { env: disabled });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  // The package with its peers alone.
  const home = join(folder, 'node_modules/headgate');
  const packageFolder = inject('packageFolder');
  mkdirSync(join(folder, 'node_modules/@opentelemetry'), { recursive: true });
  cpSync(join(packageFolder, 'dist'), join(home, 'dist'), { recursive: true });
  cpSync(join(packageFolder, 'package.json'), join(home, 'package.json'));
  for (const name of ['rxjs', 'tslib', '@opentelemetry/api']) {
    symlinkSync(join(packageFolder, 'node_modules', name), join(dirname(home), name));
  }
  const args = ['run', 'in.jsonl', '--out', 'out.jsonl', '--base-url', server.url, '--model', 'm'];
  const main = join(home, 'dist/batch/main.cjs');
  const { code, stderr, stdout } = await start(test, args, { env, cwd: folder, main }).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('done      3 of 3');
  expect(bodies.size).toBe(0);
});
