import { randomUUID } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { BatchError, codeOf, fileProblem } from '../errors.ts';
import { ownerText, readLock } from './lock-owner.ts';

/** A running process holds the lock. */
export class HeldError extends Error {
  readonly holder: string;

  constructor(holder: string) {
    super(`held by ${holder}`);
    this.holder = holder;
  }
}

/** After this number of tries it is an error that a lock can neither be read nor made. */
const MOST_LOOKS = 1_000;

/**
 * Takes a lock, or replaces one whose owner has died. At most one process holds a lock, however
 * many try to take it.
 *
 * - A lock is never half written: the process writes it to a file with another name, then links
 *   that file to the name of the lock. Linking fails if there is a lock.
 * - A process that finds the lock of a dead process takes a second lock, which is named after the
 *   dead one, so only one process gets it. That process reads the first lock again, and replaces it
 *   if it is still the dead one. If the process dies before, its second lock is taken in this way.
 *
 * It yields before each step that other processes can see or change, so that a test can try orders.
 *
 * @param file the lock
 * @param owner the content of the lock
 * @param base the beginning of the names of all temporary files
 * @throws HeldError; BatchError if the lock cannot be written
 */
export function* takeLock(file: string, owner: string, base = file): Generator<void, void> {
  const own = `${base}.${randomUUID().slice(0, 8)}.new`;
  try {
    write(own, owner, file);
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      yield;
      if (link(own, file, owner)) return;
      yield;
      const found = readLock(file);
      if (found === undefined) continue;
      if (found.holder !== undefined) throw new HeldError(found.holder);
      const guard = `${base}.${found.id}`;
      const guardOwner = ownerText();
      yield* takeLock(guard, guardOwner, base);
      try {
        yield;
        const again = readLock(file);
        yield;
        if (again?.id === found.id && again.holder === undefined) {
          renameSync(own, file);
          return;
        }
      } finally {
        dropLock(guard, guardOwner);
      }
    }
    throw new BatchError(`cannot write ${file}: it is no file`);
  } finally {
    removeTemporary(own);
  }
}

/** Removes a temporary file, which was perhaps never made. */
function removeTemporary(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // There is none, or its folder is no folder: an error of the write tells that.
  }
}

/** Removes a lock, if it is still that of its owner. */
export function dropLock(file: string, owner: string): void {
  try {
    if (readLock(file)?.text === owner) unlinkSync(file);
  } catch {
    // The lock is gone already, or cannot be read.
  }
}

function write(own: string, owner: string, file: string): void {
  try {
    writeFileSync(own, owner, { flag: 'wx' });
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

/** @returns false: there is a lock */
function link(own: string, file: string, owner: string): boolean {
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? false : create(file, owner);
  }
}

/** For file systems without hard links. */
function create(file: string, owner: string): boolean {
  let isOurs = false;
  try {
    const fd = openSync(file, 'wx');
    isOurs = true;
    try {
      writeSync(fd, owner);
    } finally {
      closeSync(fd);
    }
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (isOurs) rmSync(file, { force: true });
    throw cannotWrite(file, error);
  }
}

function cannotWrite(file: string, error: unknown): BatchError {
  const isFolderMissing = codeOf(error) === 'ENOENT';
  const problem = isFolderMissing ? `there is no folder ${dirname(file)}` : fileProblem(error);
  return new BatchError(`cannot write ${file}: ${problem}`, { cause: error });
}
