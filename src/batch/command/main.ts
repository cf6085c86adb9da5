#!/usr/bin/env node
/** The command `headgate`. */
import { CommanderError } from 'commander';
import { BatchError, codeOf } from '../errors.ts';
import { createProgram } from './program.ts';
import { keepHeapSmall } from './small-heap.ts';

const USAGE = 2;

/** A reader may close the pipe before the end (`| head`): that is no error. */
function ignoreBrokenPipe(error: Error): void {
  if (codeOf(error) !== 'EPIPE') throw error;
}

async function main(): Promise<number> {
  let code = 0;
  const program = createProgram((exitCode) => {
    code = exitCode;
  });
  try {
    await program.parseAsync();
    return code;
  } catch (error) {
    if (codeOf(error) === 'EPIPE') return 0;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    // These name what was wrong with the call; for anything else the stack helps.
    const isExpected =
      error instanceof BatchError || error instanceof RangeError || error instanceof TypeError;
    if (!isExpected) throw error;
    process.stderr.write(`headgate: ${error.message}\n`);
    return error instanceof BatchError ? error.exitCode : USAGE;
  }
}

keepHeapSmall();
process.stdout.on('error', ignoreBrokenPipe);
process.stderr.on('error', ignoreBrokenPipe);
process.exitCode = await main();
