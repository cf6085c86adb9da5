/** Runs programs that listen on a port. Each has its own folder, and never outlives the bench. */
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

/** Folders of servers on Debian, which are not in a user's PATH. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];

/**
 * Runs a command until it ends or file descriptor 3 is closed. The descriptor closes when the
 * parent process ends, even by SIGKILL. `$1` is the folder to remove, the rest is the command.
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
  /** The files to write into the program's folder, by name. The program must listen on `port`. */
  files(port: number, folder: string): Readonly<Record<string, string>>;
  /** The program and its arguments. */
  command(port: number, folder: string): readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** The port to listen on. Default: a free port. */
  readonly port?: number;
  /** The longest time until the program listens, in milliseconds. Default: 10 s. */
  readonly startMs?: number;
}

export interface RunningProgram {
  readonly port: number;
  /** Ends the program, and waits for its end. */
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
 * Starts a program and waits until it listens. The program does not keep the bench alive.
 *
 * @throws Error with the end of its output if it does not begin to listen
 */
export async function startProgram(options: ProgramOptions): Promise<RunningProgram> {
  const { files, command, env, startMs = 10_000 } = options;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const port = options.port ?? (await freePort());
  const written = Object.entries(files(port, folder));
  await Promise.all(written.map(([name, text]) => writeFile(join(folder, name), text)));
  const log = openSync(join(folder, LOG), 'w+');
  const guard = spawn('sh', ['-c', GUARD, 'sh', folder, ...command(port, folder)], {
    // Start a new process group, which Ctrl-C does not reach: only the guard ends the program.
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

/** Reads the log by position: the program's position is at the end, and its folder may be gone. */
function endOf(log: number): string {
  const end = Buffer.alloc(LOG_BYTES);
  const start = Math.max(0, fstatSync(log).size - LOG_BYTES);
  return end.toString('utf8', 0, readSync(log, end, 0, LOG_BYTES, start)).trim();
}

/** Opens a connection without a request, which no limit counts. */
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
