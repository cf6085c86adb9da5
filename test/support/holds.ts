/**
 * Fails where something does not hold of some values. For the steps of generated scripts: a matcher
 * takes longer than what it checks.
 */
export function holds(isTrue: boolean, ...values: readonly unknown[]): void {
  if (!isTrue) throw new Error(`this does not hold: ${JSON.stringify(values)}`);
}
