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

/** After so many looks at a lock that cannot be read and cannot be made, it is an error. */
const MOST_LOOKS = 1_000;

/**
 * Takes a lock, or the place of one whose owner has died, so that never two of any number of
 * processes have it.
 *
 * - A lock is made whole: it is written under a name of its own and linked to that of the lock, which
 *   fails where there is one.
 * - A process that finds the lock of a dead one takes a second lock, which is named after the dead lock:
 *   only one of those that have found it gets that. This process reads the lock again, and replaces it
 *   if it is still the dead one. If it dies before that, its second lock is taken in the same way.
 *
 * It yields before each step that others may see or change, so that a test can try their orders.
 *
 * @param file the lock
 * @param owner what it says
 * @param base what the names of all files that are needed for a moment begin with
 * @throws HeldError; BatchError where it cannot be written
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
    rmSync(own, { force: true });
  }
}

/** Removes a lock, if it is still that of its owner. */
export function dropLock(file: string, owner: string): void {
  try {
    if (readLock(file)?.text === owner) unlinkSync(file);
  } catch {
    // It is gone already.
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
  return new BatchError(`cannot write ${file}: ${fileProblem(error)}`, { cause: error });
}
