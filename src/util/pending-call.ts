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

/** A task with the async context of its call: the value of each `AsyncLocalStorage`. */
export interface BoundTask<Task> {
  readonly task: Task;
  runInAsyncScope(call: () => void): void;
}

/** The parts of `node:async_hooks` that detect and keep an async context. */
interface Binder {
  readonly newResource: () => object;
  readonly run: (this: object, call: () => void) => void;
  /** The present resource, which identifies the context. */
  readonly running: () => object;
  /** The key of a number that Node keeps in tracked promises, while a storage is in use. */
  readonly number: symbol | undefined;
  /** The key of the context in a resource, if Node does not track promises (24 and later). */
  readonly frame: symbol | undefined;
  /** Whether a tracked promise can be run in; unknown before one was tried. */
  takesPromises: boolean | undefined;
}

let binder: Binder | null | undefined;

/**
 * Binds a task to the async context in which this is called. Undefined if Node says that no
 * `AsyncLocalStorage` is in use: a waiting call then stores no context.
 * @param promise a promise made in the same turn, which may hold the context already
 */
export function bindTask<Task>(task: Task, promise: Promise<unknown>): BoundTask<Task> | undefined {
  if (binder === undefined) binder = findBinder();
  if (binder === null) return undefined;
  const { number, frame, newResource } = binder;
  if (frame !== undefined || number === undefined) {
    const resource = newResource();
    // Without both keys, as in Bun, Deno and workerd, nothing tells whether a storage is in use.
    const mayHoldContext = frame === undefined || read(resource, frame) !== undefined;
    if (mayHoldContext) return new Bound(task, resource);
  }
  if (number === undefined || read(promise, number) === undefined) return undefined;
  // Node keeps the context in the promise already, which is cheaper than a resource of our own.
  binder.takesPromises ??= canRunIn(promise, binder);
  return new Bound(task, binder.takesPromises ? promise : newResource());
}

class Bound<Task> implements BoundTask<Task> {
  readonly task: Task;
  private readonly resource: object;

  constructor(task: Task, resource: object) {
    this.task = task;
    this.resource = resource;
  }

  runInAsyncScope(call: () => void): void {
    binder?.run.call(this.resource, call);
  }
}

/** Not an import, so that bundles for browsers need no replacement of a Node module. */
function findBinder(): Binder | null {
  if (typeof process === 'undefined') return null;
  const hooks = process.getBuiltinModule?.('node:async_hooks');
  if (hooks === undefined) return null;
  const { AsyncResource, executionAsyncResource } = hooks;
  const newResource = () => new AsyncResource('headgate', { requireManualDestroy: true });
  const symbols = Object.getOwnPropertySymbols(newResource());
  const named = (name: string) => symbols.find(({ description }) => description === name);
  return {
    newResource,
    run: AsyncResource.prototype.runInAsyncScope,
    running: executionAsyncResource,
    number: named('async_id_symbol'),
    frame: named('context_frame'),
    takesPromises: undefined,
  };
}

/** Determined once. */
function canRunIn(promise: object, { run, running }: Binder): boolean {
  let isRunning = false;
  run.call(promise, () => {
    isRunning = running() === promise;
  });
  return isRunning;
}

function read(thing: object, key: symbol): unknown {
  return (thing as Readonly<Record<symbol, unknown>>)[key];
}
