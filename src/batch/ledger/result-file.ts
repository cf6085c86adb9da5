import { existsSync } from 'node:fs';
import { type FileHandle, open, stat, unlink } from 'node:fs/promises';
import { BatchError, codeOf, fileProblem } from '../errors.ts';

/** How long a result may be written but not yet safe from a power cut. */
const SYNC_MS = 500;

/** Another program has done something to the output: what it holds is not known any more. */
export class OutputChangedError extends BatchError {
  constructor(path: string, change: string) {
    super(
      `${path} was ${change} while the run went on. Its results may not be there: look at it, and ` +
        'run the same command again, or with another --out',
      { exitCode: 1 },
    );
  }
}

/**
 * Appends lines to the output, each whole or not at all. Lines are written as they come, many at
 * once where they come fast, and are on disk at most a second later.
 *
 * What a write that fails (a full disk) has left is cut off, and all of it written again by the next
 * call of `flush`, so that there is no half of a line before a whole one. Writes go to the end of the
 * file wherever that is: one that another program cuts gets no hole.
 */
export class ResultFile {
  readonly path: string;
  /** Called once, with the first error of a write. */
  onError: ((error: BatchError) => void) | undefined = undefined;
  readonly #handle: FileHandle;
  /** Whether there was no file before. */
  readonly #isNew: boolean;
  #length: number;
  /** Where the last write ends, or would have ended if it had not failed. */
  #end: number;
  #waiting: string[] = [];
  /** What is being written, or could not be. */
  #writing: readonly string[] = [];
  #flushing: Promise<void> | undefined = undefined;
  #isDirty = false;
  #syncedAt = performance.now();
  #error: BatchError | undefined = undefined;
  #changed: OutputChangedError | undefined = undefined;
  /** Nothing more may be written: what is there is not what was written. */
  #isSpoiled = false;

  private constructor(path: string, handle: FileHandle, length: number, isNew: boolean) {
    this.path = path;
    this.#handle = handle;
    this.#isNew = isNew;
    this.#length = length;
    this.#end = length;
  }

  /**
   * @param length of the good part of the file; what is after it is cut off
   * @param needsNewline whether the last line of that has no end yet
   * @throws BatchError
   */
  static async open(path: string, length: number, needsNewline: boolean): Promise<ResultFile> {
    try {
      const isNew = !existsSync(path);
      const handle = await open(path, 'a');
      await handle.truncate(length);
      if (needsNewline) await writeAll(handle, Buffer.from('\n'));
      return new ResultFile(path, handle, needsNewline ? length + 1 : length, isNew);
    } catch (error) {
      throw writeError(path, error, 2);
    }
  }

  /** How many lines are not in the file. */
  get unwritten(): number {
    return this.#writing.length + this.#waiting.length;
  }

  /** The lines that are not in the file. */
  get unwrittenLines(): readonly string[] {
    return [...this.#writing, ...this.#waiting];
  }

  /** Takes a line without its newline. */
  append(line: string): void {
    this.#waiting.push(line);
    if (this.#error === undefined) void this.flush();
  }

  /** Writes what waits. Never rejects: see `onError`. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Resolves when all is on disk. @throws BatchError where it cannot be */
  async sync(): Promise<void> {
    this.#error = this.#changed;
    await this.flush();
    await this.flush();
    await this.#syncNow();
    await this.#checkPlace();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Called every second or so. */
  async tick(): Promise<void> {
    await this.#checkPlace();
    if (performance.now() - this.#syncedAt >= SYNC_MS) await this.#syncNow();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Removes the file where there was none before and nothing was written. */
  async removeIfEmpty(): Promise<void> {
    if (this.#isNew && this.#length === 0 && this.#changed === undefined) await unlink(this.path);
  }

  async #flush(): Promise<void> {
    try {
      while (this.unwritten > 0) {
        const size = await this.#checkSize();
        if (this.#isSpoiled) return;
        if (size > this.#length) await this.#handle.truncate(this.#length);
        if (this.#writing.length === 0) {
          this.#writing = this.#waiting;
          this.#waiting = [];
        }
        const bytes = Buffer.from(`${this.#writing.join('\n')}\n`);
        this.#end = this.#length + bytes.length;
        await writeAll(this.#handle, bytes);
        this.#length += bytes.length;
        this.#writing = [];
        this.#isDirty = true;
        if (performance.now() - this.#syncedAt >= SYNC_MS) await this.#syncNow();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Looks whether the name is still that of the file: what is written to another is lost. */
  async #checkPlace(): Promise<void> {
    if (this.#changed !== undefined) return;
    try {
      const [own, named] = await Promise.all([this.#handle.stat(), stat(this.path)]);
      if (own.dev !== named.dev || own.ino !== named.ino) this.#change('replaced');
      else await this.#checkSize();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') this.#change('removed or renamed');
    }
  }

  /** Looks whether the file ends where it was written to. @returns its size */
  async #checkSize(): Promise<number> {
    const length = this.#length;
    const { size } = await this.#handle.stat();
    this.#isSpoiled ||= size < length || size > this.#end;
    if (this.#isSpoiled) this.#change(size < length ? 'made shorter' : 'written to');
    return size;
  }

  #change(what: string): void {
    this.#changed ??= new OutputChangedError(this.path, what);
    this.#report(this.#changed);
  }

  async #syncNow(): Promise<void> {
    this.#syncedAt = performance.now();
    if (!this.#isDirty) return;
    this.#isDirty = false;
    try {
      await this.#handle.datasync();
    } catch (error) {
      this.#isDirty = true;
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#report(writeError(this.path, error, 1));
  }

  #report(error: BatchError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.onError?.(error);
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, null);
    written += bytesWritten;
  }
}

function writeError(path: string, cause: unknown, exitCode: number): BatchError {
  return new BatchError(`cannot write ${path}: ${fileProblem(cause)}`, { exitCode, cause });
}
