/** A promise and the function that settles it, with a value or with another promise. */
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
 * All promises share this executor. One for each promise would cost a closure, which also keeps the
 * variables of its caller alive.
 */
export function deferred<Value>(): Deferred<Value> {
  const promise = new Promise<Value>(catchIt);
  const resolve = caught as Deferred<Value>['resolve'];
  // Otherwise this variable would keep the last promise, and its value, alive.
  caught = undefined;
  return { promise, resolve };
}
