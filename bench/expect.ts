/** A measure that did not measure what it says fails. */
export function expectEqual<T>(what: string, got: T, expected: T): void {
  if (got !== expected) {
    throw new Error(`${what}: got ${got}, expected ${expected}`);
  }
}
