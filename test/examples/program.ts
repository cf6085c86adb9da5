import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProvider, type ProviderServer, serve } from 'headgate/simulator';
import { inject, type TestContext } from 'vitest';
import type { Result } from '../../examples/batch/results.ts';

const PROGRAM = join(inject('packageFolder'), 'build/examples/batch/main.js');

/** What the program reads. */
const OURS = /^(OPENAI_API_KEY$|HEADGATE_|OTEL_)/;

/** Programs that run at once each have a page of metrics. */
const ANY_PORT = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };

/** How a process ended, by itself. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has written so far. */
  stderr(): string;
}

/** Starts the compiled main program. It is killed with the test, if it is still there. */
export function startProgram(
  test: TestContext,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Program {
  const inherited = Object.entries(process.env).filter(([name]) => !OURS.test(name));
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...Object.fromEntries(inherited), ...ANY_PORT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  test.onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { process: child, ended, stderr: () => stderr };
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
