import { codeOf, fileProblem } from '../errors.ts';

/** The error of standard output, which is reported and decides the exit code. */
let outputError: Error | undefined;

/** Listens for errors of the outputs of this process: without a listener they would end it. */
export function watchOutputs(): void {
  process.stdout.on('error', (error) => {
    if (isClosed(error)) return;
    outputError = error;
    process.exitCode ||= 1;
    process.stderr.write(`headgate: cannot write standard output: ${fileProblem(error)}\n`);
  });
  // There is no other place to report it, and a display must not end a run.
  process.stderr.on('error', () => {});
}

/** Whether the reader has closed the output early (`| head`, or the terminal). */
function isClosed(error: unknown): boolean {
  return codeOf(error) === 'EPIPE' || codeOf(error) === 'EIO';
}

/** @returns the exit code for an error of standard output; undefined: it is another error */
export function outputExitCode(error: unknown): number | undefined {
  if (codeOf(error) === 'EPIPE') return 0;
  return error !== undefined && error === outputError ? 1 : undefined;
}
