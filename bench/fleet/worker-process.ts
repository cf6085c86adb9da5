/** The bench's handle of a worker process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientName } from './clients/index.ts';
import type { Answer, Command, Load, LoadResult } from './job.ts';
import { readSends, type Sends, sharedNow } from './send-log.ts';
import type { Setup } from './setup.ts';

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url));

/** The time limit of a command: longer than any command takes. */
const ANSWER_MS = 30_000;

interface Waiter {
  readonly tell: (result: LoadResult | undefined) => void;
  readonly fail: (error: Error) => void;
}

let count = 0;

export class WorkerProcess {
  private readonly child: ChildProcess;
  private readonly folder: string;
  private readonly waiters = new Map<number, Waiter>();
  private readonly logs: string[] = [];
  private asked = 0;
  /** When the process was killed, in ms of the common clock. */
  killedAt: number | undefined = undefined;

  /** @param folder for the logs */
  constructor(folder: string) {
    this.folder = folder;
    this.child = fork(WORKER, {
      serialization: 'advanced',
      // Ignore warnings about the missing store: some measurements stop the store on purpose.
      execArgv: ['--no-warnings'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.child.on('message', (answer: Answer) => this.answered(answer));
    this.child.once('exit', (code, signal) => {
      const error = new Error(`a worker has ended: ${signal ?? code}`);
      for (const { fail } of this.waiters.values()) fail(error);
      this.waiters.clear();
    });
  }

  async connect(client: ClientName, setup: Setup): Promise<void> {
    await this.ask({ kind: 'connect', client, setup });
  }

  /** Starts a load. */
  async load(load: Load, isKillable = false): Promise<void> {
    const log = join(this.folder, `sends-${count}`);
    count += 1;
    this.logs.push(log);
    await this.ask({ kind: 'load', load, log, isKillable });
  }

  /** Stops the load. */
  async stop(): Promise<LoadResult> {
    const result = await this.ask({ kind: 'stop' });
    if (result === undefined) throw new Error('a worker had no load to stop');
    return result;
  }

  /** The requests since the last call. */
  takeSends(): Sends {
    const sends = this.logs.splice(0).map(readSends);
    return {
      sent: sends.flatMap(({ sent }) => sent),
      ended: sends.flatMap(({ ended }) => ended),
    };
  }

  /** Closes the client, as a program does at its end. */
  async close(): Promise<void> {
    await this.ask({ kind: 'close' });
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
    this.killedAt = sharedNow();
  }

  private ask(command: Command): Promise<LoadResult | undefined> {
    const id = this.asked;
    this.asked += 1;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiters.delete(id);
        reject(new Error(`a worker did not ${command.kind} within ${ANSWER_MS} ms`));
      }, ANSWER_MS);
      const end = () => clearTimeout(timer);
      this.waiters.set(id, {
        tell: (result) => {
          end();
          resolve(result);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      });
      this.child.send({ id, command });
    });
  }

  private answered(answer: Answer): void {
    const waiter = this.waiters.get(answer.id);
    this.waiters.delete(answer.id);
    if ('error' in answer) waiter?.fail(new Error(answer.error));
    else waiter?.tell(answer.result);
  }
}
