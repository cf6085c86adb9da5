import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProvider, type ProviderServer, serve } from 'headgate/simulator';
import { inject, type TestContext } from 'vitest';
import type { Result } from '../../examples/batch/results.ts';
import {
  type Ended,
  environmentWithout,
  type Running,
  startNode,
} from '../support/child-process.ts';

const PROGRAM = join(inject('packageFolder'), 'build/examples/batch/main.js');

/** The environment variables that the program reads. */
const OURS = /^(OPENAI_API_KEY$|HEADGATE_|OTEL_)/;

/** Programs that run at once each have a page of metrics. */
const ANY_PORT = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };

/** Starts the compiled main program. */
export function startProgram(
  test: TestContext,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Running {
  const inherited = environmentWithout(OURS);
  return startNode(test, [PROGRAM, ...args], {
    env: { ...inherited, ...ANY_PORT, ...env },
    stdin: 'ignore',
  });
}

export function runProgram(
  test: TestContext,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<Ended> {
  return startProgram(test, args, env).ended;
}

/** A folder that is gone after the test. */
export async function temporaryFolder(test: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-batch-'));
  test.onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A provider that is closed after the test. */
export async function startServer(
  test: TestContext,
  options: Parameters<typeof createProvider>[0],
): Promise<ProviderServer> {
  const server = await serve(createProvider(options));
  test.onTestFinished(() => server.close());
  return server;
}

export async function readResults(file: string): Promise<Result[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
