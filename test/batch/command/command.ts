import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, type TestContext } from 'vitest';
import type { ResultLine } from '../../../src/batch/ledger/result-line.ts';
import {
  type Ended,
  environmentWithout,
  type Running,
  startNode,
} from '../../support/child-process.ts';
import { type AnswerServer, type AnswerServerOptions, startAnswerServer } from './answer-server.ts';

const COMMAND = join(inject('packageFolder'), 'dist/batch/main.js');

/** The program and its first argument. */
export const commandLine = [process.execPath, COMMAND] as const;

/** What the command reads of the environment. */
const OURS =
  /^(OPENAI_|ANTHROPIC_|HEADGATE_|OTEL_|https?_proxy$|HTTPS?_PROXY$|NO_PROXY$|no_proxy$)/;

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** What standard input has; null: nothing yet, and it stays open. */
  readonly input?: string | null;
  readonly cwd?: string;
  /** The command's file. Default: that of the package as it is published. */
  readonly main?: string;
}

/** Starts the command as it is published. */
export function start(
  test: TestContext,
  args: readonly string[],
  { env = {}, input, cwd, main = COMMAND }: StartOptions = {},
): Running {
  const inherited = environmentWithout(OURS);
  return startNode(test, [main, ...args], { env: { ...inherited, ...env }, input, cwd });
}

/** A folder, a server, and the command on files in that folder. */
export interface Rig {
  readonly folder: string;
  readonly server: AnswerServer;
  /** Writes a file into the folder; an array becomes lines of JSON. */
  write(name: string, content: string | Uint8Array | readonly unknown[]): string;
  path(name: string): string;
  /** `headgate run` with the server and a model. */
  run(args: readonly string[], options?: StartOptions): Promise<Ended>;
  startRun(args: readonly string[], options?: StartOptions): Running;
  command(args: readonly string[], options?: StartOptions): Promise<Ended>;
  results(name?: string): ResultLine[];
}

export async function rig(test: TestContext, options: AnswerServerOptions = {}): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-run-'));
  test.onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const server = await startAnswerServer(options);
  test.onTestFinished(() => server.close());
  const path = (name: string) => join(folder, name);
  const startRun: Rig['startRun'] = (args, more) =>
    start(test, ['run', '--base-url', server.url, '--model', 'm', ...args], {
      cwd: folder,
      ...more,
    });
  return {
    folder,
    server,
    path,
    startRun,
    write: (name, content) => {
      const isText = typeof content === 'string' || content instanceof Uint8Array;
      writeFileSync(path(name), isText ? content : jsonLines(content));
      return name;
    },
    run: (args, more) => startRun(args, more).ended,
    command: (args, more) => start(test, args, { cwd: folder, ...more }).ended,
    results: (name = 'out.jsonl') => readLines(path(name)),
  };
}

export function jsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** @throws SyntaxError where a line is not whole */
function readLines(file: string): ResultLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** `{"id": "p0", "prompt": "p0"}` and so on. */
export function prompts(count: number): { id: string; prompt: string }[] {
  return Array.from({ length: count }, (_, index) => ({ id: `p${index}`, prompt: `p${index}` }));
}
