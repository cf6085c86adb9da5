/** Says what somebody threw or passed. What JavaScript lets one throw may not have a text at all. */

const UNPRINTABLE = 'a value that cannot be printed';

/** `String(value)`, or a phrase for what that cannot convert. Never throws. */
export function print(value: unknown): string {
  try {
    return String(value);
  } catch {
    return UNPRINTABLE;
  }
}

/** The message of an error, and anything else as `print` has it. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return UNPRINTABLE;
  }
}

/** `thrown instanceof Error`, which throws itself for a revoked Proxy. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}
