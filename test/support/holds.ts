/**
 * Throws with the given values if a condition is false. For the steps of generated scripts, for
 * which matchers of `expect` are too slow.
 */
export function holds(isTrue: boolean, ...values: readonly unknown[]): void {
  if (!isTrue) throw new Error(`this does not hold: ${JSON.stringify(values)}`);
}
