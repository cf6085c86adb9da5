/** What the command lines of all benches have in common. */

/** An option is wrong: the message says which, what it takes and what it got. */
export class UsageError extends Error {}

/**
 * Runs a bench. Where its command line is wrong, it prints why and how to use it, and exits with 2.
 *
 * @param usage what the bench takes
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

/** `parseArgs` throws TypeErrors whose codes say that the arguments are at fault. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS'))
  );
}

/**
 * The names that are meant, in the order in which they are known.
 *
 * @param text names with commas between them; a `*` at the end of one stands for anything
 * @throws UsageError where a name is not known
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

/** @throws UsageError where it is no integer, or less than `least` */
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
