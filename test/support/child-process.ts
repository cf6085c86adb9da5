import { type ChildProcess, spawn } from 'node:child_process';
import type { TestContext } from 'vitest';

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** The output so far. */
  stderr(): string;
}

export interface ChildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The standard output. Default `pipe`. */
  readonly stdin?: 'pipe' | 'ignore';
  /** The content of standard input; null: empty, and open. */
  readonly input?: string | null | undefined;
  readonly cwd?: string | undefined;
}

/** Starts a Node program. It is killed at the end of the test, if it still runs. */
export function startNode(
  test: TestContext,
  args: readonly string[],
  { env, stdin = 'pipe', input, cwd }: ChildOptions,
): Running {
  const child = spawn(process.execPath, args, { env, stdio: [stdin, 'pipe', 'pipe'], cwd });
  test.onTestFinished(() => {
    child.kill('SIGKILL');
  });
  child.stdin?.on('error', () => {});
  if (input !== null) child.stdin?.end(input ?? '');
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { process: child, ended, stderr: () => stderr };
}

/** The environment of this process, without the variables that the program reads. */
export function environmentWithout(read: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !read.test(name)));
}
