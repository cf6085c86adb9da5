import { type FileHandle, open } from 'node:fs/promises';
import { BatchError, fileProblem } from '../errors.ts';

/** How long a result may be written but not yet safe from a power cut. */
const SYNC_MS = 500;

/**
 * Appends lines to the output, each whole or not at all. Lines are written as they come, many at
 * once where they come fast, and are on disk at most a second later.
 *
 * A write that fails (a full disk) is tried again at the same place by the next call of `flush`, so
 * that it leaves no half of a line before a whole one.
 */
export class ResultFile {
  readonly path: string;
  /** Called once, with the first error of a write. */
  onError: ((error: BatchError) => void) | undefined = undefined;
  readonly #handle: FileHandle;
  #length: number;
  #waiting: string[] = [];
  /** What is being written, or could not be. */
  #writing: readonly string[] = [];
  #flushing: Promise<void> | undefined = undefined;
  #isDirty = false;
  #syncedAt = performance.now();
  #error: BatchError | undefined = undefined;

  private constructor(path: string, handle: FileHandle, length: number) {
    this.path = path;
    this.#handle = handle;
    this.#length = length;
  }

  /**
   * @param length of the good part of the file; what is after it is cut off
   * @param needsNewline whether the last line of that has no end yet
   * @throws BatchError
   */
  static async open(path: string, length: number, needsNewline: boolean): Promise<ResultFile> {
    try {
      const handle = await open(path, length === 0 ? 'w' : 'r+');
      if (length > 0) await handle.truncate(length);
      if (needsNewline) await writeAll(handle, Buffer.from('\n'), length);
      return new ResultFile(path, handle, needsNewline ? length + 1 : length);
    } catch (error) {
      throw writeError(path, error);
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
    this.#error = undefined;
    await this.flush();
    await this.flush();
    await this.#syncNow();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Called every second or so. */
  async tick(): Promise<void> {
    if (performance.now() - this.#syncedAt >= SYNC_MS) await this.#syncNow();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #flush(): Promise<void> {
    try {
      while (this.unwritten > 0) {
        if (this.#writing.length === 0) {
          this.#writing = this.#waiting;
          this.#waiting = [];
        }
        const bytes = Buffer.from(`${this.#writing.join('\n')}\n`);
        await writeAll(this.#handle, bytes, this.#length);
        this.#length += bytes.length;
        this.#writing = [];
        this.#isDirty = true;
        if (performance.now() - this.#syncedAt >= SYNC_MS) await this.#syncNow();
      }
    } catch (error) {
      this.#fail(error);
    }
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
    if (this.#error !== undefined) return;
    this.#error = writeError(this.path, error);
    this.onError?.(this.#error);
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(
      bytes,
      written,
      bytes.length - written,
      position + written,
    );
    written += bytesWritten;
  }
}

function writeError(path: string, error: unknown): BatchError {
  return new BatchError(`cannot write ${path}: ${fileProblem(error)}`, {
    exitCode: 1,
    cause: error,
  });
}
