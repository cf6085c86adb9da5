#!/usr/bin/env node
/** The command `headgate`. */
import { codeOf } from '../errors.ts';
import { execute } from './execute.ts';
import { keepHeapSmall } from './small-heap.ts';

/** A reader may close the pipe before the end (`| head`): that is no error. */
function ignoreBrokenPipe(error: Error): void {
  if (codeOf(error) !== 'EPIPE') throw error;
}

keepHeapSmall();
process.stdout.on('error', ignoreBrokenPipe);
process.stderr.on('error', ignoreBrokenPipe);
void execute(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
