import {
  closeSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { BatchError, codeOf, fileProblem } from '../errors.ts';
import { parseJson, textAt } from '../json.ts';

/** A run touches its lock every second; on another machine one that is older has died. */
const STALE_MS = 60_000;

/** Keeps a second run away from an output while the first one lives. */
export class OutputLock {
  readonly #file: string;

  /** @throws BatchError that says who holds it */
  constructor(output: string) {
    this.#file = `${output}.lock`;
    if (this.#create()) return;
    const holder = this.#holder();
    if (holder !== undefined) {
      throw new BatchError(
        `${output} is being written by ${holder}: wait until it has ended, or give another --out ` +
          `(if there is no such run, delete ${this.#file})`,
      );
    }
    unlinkSync(this.#file);
    if (!this.#create()) throw new BatchError(`${output} is being written by another run`);
  }

  /** Tells other machines that this run lives. */
  touch(): void {
    const now = new Date();
    try {
      utimesSync(this.#file, now, now);
    } catch {
      // The user deleted the lock; the run goes on.
    }
  }

  release(): void {
    try {
      unlinkSync(this.#file);
    } catch {
      // It is gone already.
    }
  }

  #create(): boolean {
    try {
      const fd = openSync(this.#file, 'wx');
      const owner = { pid: String(process.pid), host: hostname(), started: startOf(process.pid) };
      writeSync(fd, `${JSON.stringify(owner)}\n`);
      closeSync(fd);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw new BatchError(`cannot write ${this.#file}: ${fileProblem(error)}`, { cause: error });
    }
  }

  /** Who holds the lock, in words; undefined: nobody who lives. */
  #holder(): string | undefined {
    const owner = parseJson(readFileSync(this.#file, 'utf8'));
    const pid = Number(textAt(owner, 'pid'));
    const host = textAt(owner, 'host');
    if (host !== undefined && host !== hostname()) {
      const isStale = Date.now() - statSync(this.#file).mtimeMs > STALE_MS;
      return isStale ? undefined : `a run on ${host} (process ${pid})`;
    }
    if (!Number.isInteger(pid) || !isAlive(pid)) return undefined;
    // Another process may have got the number of one that died.
    if (startOf(pid) !== (textAt(owner, 'started') ?? '')) return undefined;
    return `process ${pid}`;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** When a process was started, in ticks since the machine was; empty where that cannot be known. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything; the start is the 20th field after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
