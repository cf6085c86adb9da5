import { isError, print } from '../util/print.ts';

/** An error whose message says what is wrong and how to fix it. */
export class BatchError extends Error {
  /** Of the process that ends with this error. 2: no request was sent, and the call must change. */
  readonly exitCode: number;

  constructor(
    message: string,
    { exitCode = 2, cause }: { exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
  }

  /** The name of the class, written out: minifiers shorten those of classes. */
  override get name(): string {
    return 'BatchError';
  }
}

/** The run was stopped before any request was sent. */
export class InterruptedError extends BatchError {
  constructor() {
    super('stopped before anything was sent', { exitCode: 130 });
  }

  override get name(): string {
    return 'InterruptedError';
  }
}

/** A line of the input that cannot be sent. The message starts with `file:line`. */
export class InputError extends BatchError {
  /** @param place such as `prompts.jsonl:12` */
  constructor(place: string, problem: string, cause?: unknown) {
    super(`${place}: ${problem}`, { cause });
  }

  override get name(): string {
    return 'InputError';
  }
}

/** What went wrong with a file, in words. */
export function fileProblem(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined && code in FILE_PROBLEMS) return FILE_PROBLEMS[code] ?? code;
  return messageOf(error);
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a directory, not a file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is no directory',
};

export function codeOf(error: unknown): string | undefined {
  const isCoded = typeof error === 'object' && error !== null && 'code' in error;
  return isCoded && typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return isError(error) && error.message !== '' ? error.message : print(error);
}
