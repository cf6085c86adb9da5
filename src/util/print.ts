/**
 * Prints any thrown or passed value safely. JavaScript allows to throw values that `String()`
 * cannot convert.
 */

const UNPRINTABLE = 'a value that cannot be printed';

/** `String(value)`, or a phrase for a value that it cannot convert. Never throws. */
export function print(value: unknown): string {
  try {
    return String(value);
  } catch {
    return UNPRINTABLE;
  }
}

/** The message of an error; `print(value)` for any other value. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return UNPRINTABLE;
  }
}

/** As `thrown instanceof Error`, which throws for a revoked Proxy. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}
