import { existsSync } from 'node:fs';
import { type FileHandle, open, stat, unlink } from 'node:fs/promises';
import { BatchError, codeOf, fileProblem } from '../errors.ts';

/** How long a written result may not be synced to disk. */
const SYNC_MS = 500;
/**
 * Codes of a sync that is not offered: by some network and FUSE file systems, and by the permission
 * model of Node 26. What was written is in the file, and is on disk when the system puts it there.
 */
const NO_SYNC = ['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'ERR_ACCESS_DENIED'];

/** Another program has changed the output: its content is not known any more. */
export class OutputChangedError extends BatchError {
  constructor(path: string, change: string) {
    super(
      `${path} was ${change} while the run went on. Its results may not be there: look at it, and ` +
        'run the same command again, or with another --out',
      { exitCode: 1 },
    );
  }

  override get name(): string {
    return 'OutputChangedError';
  }
}

/**
 * Appends lines to the output, each whole or not at all. Lines are written at once, several in one
 * write if they come fast, and are on disk at most a second later.
 *
 * If a write fails (a full disk), its whole lines stay in the file. The next call of `flush` removes
 * the incomplete line, and writes it and the others again, so that no incomplete line comes before
 * a whole one. Each write appends at the present end of the file: if another program truncates the
 * file, it gets no hole.
 */
export class ResultFile {
  readonly path: string;
  /** Called once, with the first error of a write. */
  onError: ((error: BatchError) => void) | undefined = undefined;
  /** The number of lines that were appended, and of those that are on disk. */
  appended = 0;
  saved = 0;
  readonly #handle: FileHandle;
  /** Whether there was no file before. */
  readonly #isNew: boolean;
  #length: number;
  /** The end of the last write, or the end that it would have had if it had not failed. */
  #end: number;
  #waiting: string[] = [];
  /** Lines that are being written, or could not be. */
  #writing: readonly string[] = [];
  #flushing: Promise<void> | undefined = undefined;
  #isDirty = false;
  #syncedAt = performance.now();
  #error: BatchError | undefined = undefined;
  #changed: OutputChangedError | undefined = undefined;
  /** Nothing more may be written: another program has changed the content. */
  #isSpoiled = false;

  private constructor(path: string, handle: FileHandle, length: number, isNew: boolean) {
    this.path = path;
    this.#handle = handle;
    this.#isNew = isNew;
    this.#length = length;
    this.#end = length;
  }

  /**
   * @param length of the good part of the file; the rest is removed
   * @param needsNewline whether the last line of the good part has no newline yet
   * @throws BatchError
   */
  static async open(path: string, length: number, needsNewline: boolean): Promise<ResultFile> {
    try {
      const isNew = !existsSync(path);
      const handle = await open(path, 'a');
      await handle.truncate(length);
      if (needsNewline) await handle.write('\n');
      return new ResultFile(path, handle, needsNewline ? length + 1 : length, isNew);
    } catch (error) {
      throw writeError(path, error, 2);
    }
  }

  /** The number of lines that are not in the file yet. */
  get unwritten(): number {
    return this.#writing.length + this.#waiting.length;
  }

  /** The lines that are not in the file yet. */
  get unwrittenLines(): readonly string[] {
    return [...this.#writing, ...this.#waiting];
  }

  /** Appends a line, which is given without its newline. */
  append(line: string): void {
    this.appended += 1;
    this.#waiting.push(line);
    if (this.#error === undefined) void this.flush();
  }

  /** Writes the waiting lines. Never rejects: see `onError`. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Resolves when all lines are on disk. @throws BatchError if they cannot be written */
  async sync(): Promise<void> {
    this.#error = this.#changed;
    await this.flush();
    await this.flush();
    await this.#syncNow();
    await this.#checkPlace();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Checks and syncs the file; called several times a second. */
  async tick(): Promise<void> {
    await this.#checkPlace();
    if (performance.now() - this.#syncedAt >= SYNC_MS) await this.#syncNow();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Removes the file if this run has made it and written nothing to it. */
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
        await this.#write();
        if (performance.now() - this.#syncedAt >= SYNC_MS) await this.#syncNow();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Writes lines. If that fails, those that are whole in the file count as written. */
  async #write(): Promise<void> {
    const bytes = Buffer.from(`${this.#writing.join('\n')}\n`);
    this.#end = this.#length + bytes.length;
    let written = 0;
    try {
      while (written < bytes.length) {
        const left = bytes.length - written;
        const { bytesWritten } = await this.#handle.write(bytes, written, left, null);
        written += bytesWritten;
      }
      this.#wrote(this.#writing.length, bytes.length);
    } catch (error) {
      const whole = bytes.subarray(0, written).lastIndexOf('\n') + 1;
      this.#wrote(bytes.toString('latin1', 0, whole).split('\n').length - 1, whole);
      throw error;
    }
  }

  #wrote(lines: number, bytes: number): void {
    this.#writing = this.#writing.slice(lines);
    this.#length += bytes;
    this.#isDirty ||= lines > 0;
  }

  /** Checks that the path still names this file: results in another file would be lost. */
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

  /** Checks that the file ends at the end of this run's last write. @returns its size */
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
    const written = this.appended - this.unwritten;
    try {
      await this.#handle.datasync();
    } catch (error) {
      if (!NO_SYNC.includes(codeOf(error) ?? '')) {
        this.#isDirty = true;
        this.#fail(error);
        return;
      }
    }
    this.saved = written;
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

function writeError(path: string, cause: unknown, exitCode: number): BatchError {
  return new BatchError(`cannot write ${path}: ${fileProblem(cause)}`, { exitCode, cause });
}
