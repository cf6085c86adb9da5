/** A promise, and what settles it: with a value, or with what a promise that is given becomes. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value | PromiseLike<Value>) => void;
}

type Resolve = (value: never) => void;

let caught: Resolve | undefined;

function catchIt(resolve: Resolve): void {
  caught = resolve;
}

/**
 * One executor catches what resolves each promise: one of its own would cost each a function, and a
 * context that keeps what its maker knows.
 */
export function deferred<Value>(): Deferred<Value> {
  const promise = new Promise<Value>(catchIt);
  const resolve = caught as Deferred<Value>['resolve'];
  // Or it would keep the last promise, and its value.
  caught = undefined;
  return { promise, resolve };
}
