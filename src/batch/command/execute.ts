import { CommanderError } from 'commander';
import { BatchError, codeOf } from '../errors.ts';
import { createProgram } from './program.ts';

const USAGE = 2;

/**
 * Does what the arguments of the command `headgate` say, and prints wrong usage to standard error.
 * @returns the exit code
 */
export async function execute(args: readonly string[]): Promise<number> {
  let code = 0;
  const program = createProgram((exitCode) => {
    code = exitCode;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
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
