import { type TestContext, vi } from 'vitest';
import { execute } from '../../src/batch/command/program.ts';
import type { AnswerServerOptions } from './command/answer-server.ts';
import { type CommandFiles, commandFiles, VARIABLES } from './command/files.ts';

/** How a call of the command ended. */
export interface Executed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command in this process, on the files of a folder: starting a process takes half a
 * second.
 */
export interface InProcess extends CommandFiles {
  /** `headgate run` with the server and a model. One call at a time: it takes over the output. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Executed>;
  command(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Executed>;
}

export async function inProcess(
  test: TestContext,
  options: AnswerServerOptions = {},
): Promise<InProcess> {
  const files = await commandFiles(test, options);
  const { folder, server } = files;
  const before = process.cwd();
  process.chdir(folder);
  test.onTestFinished(() => process.chdir(before));
  return {
    ...files,
    run: (args, env) => executed(['run', '--base-url', server.url, '--model', 'm', ...args], env),
    command: executed,
  };
}

async function executed(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Executed> {
  for (const name of Object.keys(process.env))
    if (VARIABLES.test(name)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockReturnValue(true),
  );
  try {
    const code = await execute(args);
    const [stdout = '', stderr = ''] = spies.map(({ mock }) =>
      mock.calls.map(([text]) => String(text)).join(''),
    );
    return { code, stdout, stderr };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}
