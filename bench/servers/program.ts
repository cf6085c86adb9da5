/** Programs that listen on a port, each with a folder of its own, and that never outlive the bench. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** Debian has servers where a user's PATH does not look. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];

/**
 * Runs a command until it ends or file descriptor 3 is closed, which happens whenever the process at
 * its other end is gone, even by SIGKILL. `$1` is the folder to remove, the rest is the command.
 */
const GUARD = `
folder=$1; shift
"$@" 3<&- & program=$!
{ cat <&3; kill $program; } > /dev/null 2>&1 &
wait $program; rm -rf "$folder"`;

const LOG = 'log';
const LOG_BYTES = 1_000;
const POLL_MS = 20;

export interface ProgramOptions {
  /** Files to put into its folder, by name. `port` is where it has to listen. */
  files(port: number, folder: string): Readonly<Record<string, string>>;
  /** The program and its arguments. */
  command(port: number, folder: string): readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Where it has to listen. Default: a port that is free. */
  readonly port?: number;
  /** How long it may take until it listens, in milliseconds. Default: 10 s. */
  readonly startMs?: number;
}

export interface RunningProgram {
  readonly port: number;
  /** Ends it, and waits for that. */
  stop(): Promise<void>;
}

/** The path of a program; undefined: it is not installed. */
export function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts a program and waits until it listens. It does not keep the bench alive.
 *
 * @throws Error with the end of its output where it does not come to listen
 */
export async function startProgram(options: ProgramOptions): Promise<RunningProgram> {
  const { files, command, env, startMs = 10_000 } = options;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const port = options.port ?? (await freePort());
  const written = Object.entries(files(port, folder));
  await Promise.all(written.map(([name, text]) => writeFile(join(folder, name), text)));
  const log = openSync(join(folder, LOG), 'w+');
  const guard = spawn('sh', ['-c', GUARD, 'sh', folder, ...command(port, folder)], {
    // Ctrl-C does not reach a process group of its own: the guard alone ends the program.
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
    env: { ...process.env, ...env },
  });
  const ended = once(guard, 'exit');
  const leash = guard.stdio[3];
  if (leash instanceof Socket) leash.unref();
  guard.unref();
  const stop = async () => {
    leash?.destroy();
    guard.ref();
    await ended;
  };
  const endMs = performance.now() + startMs;
  while (!(await listens(port))) {
    if (guard.exitCode !== null || performance.now() > endMs) {
      const output = endOf(log);
      closeSync(log);
      await stop();
      throw new Error(`${command(port, folder)[0]} did not start: ${output}`);
    }
    await sleep(POLL_MS);
  }
  closeSync(log);
  return { port, stop };
}

/** Read by position: the program's own is at the end, and its folder may be gone. */
function endOf(log: number): string {
  const end = Buffer.alloc(LOG_BYTES);
  const start = Math.max(0, fstatSync(log).size - LOG_BYTES);
  return end.toString('utf8', 0, readSync(log, end, 0, LOG_BYTES, start)).trim();
}

/** A connection without a request is charged to no limit. */
async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
