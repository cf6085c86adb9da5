import { readlinkSync, realpathSync, utimesSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { BatchError } from '../errors.ts';
import { ownerText, readLock } from './lock-owner.ts';
import { dropLock, HeldError, takeLock } from './take-lock.ts';

/** The most links that are followed from one name. */
const MOST_LINKS = 40;

/** Keeps a second run from writing to an output while the first one runs. */
export class OutputLock {
  readonly #file: string;
  readonly #owner = ownerText();

  /** @throws BatchError that names the process that holds the lock */
  constructor(output: string) {
    this.#file = `${realPathOf(output)}.lock`;
    try {
      for (const _step of takeLock(this.#file, this.#owner));
    } catch (error) {
      if (!(error instanceof HeldError)) throw error;
      throw new BatchError(
        `${output} is being written by ${error.holder}: wait until it has ended, or give another ` +
          `--out (if there is no such run, delete ${this.#file})`,
      );
    }
  }

  /** Shows other machines that this run is alive. @returns false: another run has taken the lock */
  touch(): boolean {
    try {
      const found = readLock(this.#file);
      if (found !== undefined && found.text !== this.#owner) return false;
      const now = new Date();
      utimesSync(this.#file, now, now);
    } catch {
      // The user deleted the lock; the run goes on.
    }
    return true;
  }

  release(): void {
    dropLock(this.#file, this.#owner);
  }
}

/** The real path of a file that may not exist yet: links are followed. */
function realPathOf(path: string, links = 0): string {
  try {
    const real = realpathSync.native(path);
    return real === resolve(path) ? path : real;
  } catch {
    const target = linkAt(path);
    if (target !== undefined && links < MOST_LINKS) {
      return realPathOf(resolve(dirname(path), target), links + 1);
    }
  }
  try {
    const folder = dirname(path);
    const real = realpathSync.native(folder);
    return real === resolve(folder) ? path : join(real, basename(path));
  } catch {
    return path;
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
