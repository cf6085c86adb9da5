/** The parts that the command lines of all benches share. */

/** A wrong option. The message names the option, its allowed values and the given value. */
export class UsageError extends Error {}

/**
 * Runs a bench. If its command line is wrong, prints the reason and the usage, and exits with 2.
 *
 * @param usage the text that explains the options of the bench
 */
export async function runBench(main: () => Promise<void>, usage: string): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!isUsageError(error)) throw error;
    console.error(`${error.message}\n${usage}`);
    process.exitCode = 2;
  }
}

/** Whether `parseArgs` rejected the arguments, which its error codes show. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS'))
  );
}

/**
 * Returns the selected names, in the order of the known ones.
 *
 * @param text names separated by commas; a name may end with `*` for any ending
 * @throws UsageError if a name is not known
 */
export function choose(option: string, text: string, names: readonly string[]): string[] {
  const wanted = new Set<string>();
  for (const pattern of listOf(text)) {
    const found = names.filter((name) => isMatch(name, pattern));
    if (found.length === 0) {
      throw new UsageError(`${option} takes any of ${names.join(', ')}; got "${pattern}"`);
    }
    for (const name of found) wanted.add(name);
  }
  return names.filter((name) => wanted.has(name));
}

export function listOf(text: string): string[] {
  return text.split(',').map((word) => word.trim());
}

/** @throws UsageError if it is not an integer, or less than `least` */
export function readInteger(option: string, text: string, least: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
    throw new UsageError(`${option} must be an integer >= ${least}, got "${text}"`);
  }
  return value;
}

function isMatch(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
