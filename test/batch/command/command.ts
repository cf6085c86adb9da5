import { join } from 'node:path';
import { inject, type TestContext } from 'vitest';
import {
  type Ended,
  environmentWithout,
  type Running,
  startNode,
} from '../../support/child-process.ts';
import type { AnswerServerOptions } from './answer-server.ts';
import { type CommandFiles, commandFiles, VARIABLES } from './files.ts';

const COMMAND = join(inject('packageFolder'), 'dist/batch/main.cjs');

/** The program and its first argument. */
export const commandLine = [process.execPath, COMMAND] as const;

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** The content of standard input; null: empty, and open. */
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
  const inherited = environmentWithout(VARIABLES);
  return startNode(test, [main, ...args], { env: { ...inherited, ...env }, input, cwd });
}

/** The command as a process, on the files of a folder. */
export interface Rig extends CommandFiles {
  /** `headgate run` with the server and a model. */
  run(args: readonly string[], options?: StartOptions): Promise<Ended>;
  startRun(args: readonly string[], options?: StartOptions): Running;
  command(args: readonly string[], options?: StartOptions): Promise<Ended>;
}

export async function rig(test: TestContext, options: AnswerServerOptions = {}): Promise<Rig> {
  const files = await commandFiles(test, options);
  const { folder, server } = files;
  const startRun: Rig['startRun'] = (args, more) =>
    start(test, ['run', '--base-url', server.url, '--model', 'm', ...args], {
      cwd: folder,
      ...more,
    });
  return {
    ...files,
    startRun,
    run: (args, more) => startRun(args, more).ended,
    command: (args, more) => start(test, args, { cwd: folder, ...more }).ended,
  };
}
