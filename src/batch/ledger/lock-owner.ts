import { hash, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { BatchError, codeOf, fileProblem } from '../errors.ts';
import { parseJson, textAt } from '../json.ts';

/** A run touches its lock several times a second. An older lock of another machine is dead. */
const STALE_MS = 60_000;
/** On a file system without hard links, a lock file is empty until it is written. */
const EMPTY_MS = 10_000;

/** The content of a lock file. */
export interface FoundLock {
  readonly text: string;
  /** Unique: two locks of the same name, one after the other, differ in it. */
  readonly id: string;
  /** The process that holds the lock, in words; undefined: it has died. */
  readonly holder: string | undefined;
}

/** The content of a lock of this process. No two are the same. */
export function ownerText(): string {
  const { started } = statOf(process.pid);
  const owner = { pid: String(process.pid), host: hostname(), started, token: randomUUID() };
  return `${JSON.stringify(owner)}\n`;
}

/** @returns undefined: there is no lock. @throws BatchError if the lock cannot be read */
export function readLock(file: string): FoundLock | undefined {
  try {
    const fd = openSync(file, 'r');
    try {
      const { ino, mtimeMs } = fstatSync(fd);
      const text = readFileSync(fd, 'utf8');
      const id = hash('sha256', `${ino} ${text}`).slice(0, 16);
      return { text, id, holder: holderIn(text, Date.now() - mtimeMs) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new BatchError(`cannot read ${file}: ${fileProblem(error)}`, { cause: error });
  }
}

function holderIn(text: string, ageMs: number): string | undefined {
  if (text === '' && ageMs < EMPTY_MS) return 'a run that has just begun';
  const owner = parseJson(text);
  const pid = Number(textAt(owner, 'pid'));
  const host = textAt(owner, 'host');
  if (host !== undefined && host !== hostname()) {
    return ageMs > STALE_MS ? undefined : `a run on ${host} (process ${pid})`;
  }
  if (!Number.isInteger(pid) || !isAlive(pid)) return undefined;
  const { started, hasEnded } = statOf(pid);
  // The process id of a dead process may have been given to another one.
  if (hasEnded || started !== (textAt(owner, 'started') ?? '')) return undefined;
  return `process ${pid}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

interface ProcessStat {
  /** When the process was started, in ticks since the machine was; empty if that is not known. */
  readonly started: string;
  /**
   * Whether the process has ended, and its parent has not asked for its exit code yet (a zombie). In
   * a container whose first process never asks, it stays so; signals to it succeed all the same.
   */
  readonly hasEnded: boolean;
}

/** See proc_pid_stat(5). */
function statOf(pid: number): ProcessStat {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may contain any character. The state is the first field after it,
    // the start the 20th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { started: fields[19] ?? '', hasEnded: /^[ZXx]$/.test(fields[0] ?? '') };
  } catch {
    return { started: '', hasEnded: false };
  }
}
