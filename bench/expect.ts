/** Throws if a measure did not measure what its name says. */
export function expectEqual<T>(what: string, got: T, expected: T): void {
  if (got !== expected) {
    throw new Error(`${what}: got ${got}, expected ${expected}`);
  }
}
