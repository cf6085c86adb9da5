import { type Context, context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { ClosedChunk, Instrumentation } from '../model/instrumentation.ts';
import type { ChunkReason } from '../model/sized.ts';

/**
 * The active context, or `ROOT_CONTEXT` if the active context has no values. A program can load the
 * API twice, as an ES module and as CommonJS. Each copy has its own root context, and the context
 * manager returns the root context of one of them. The API has no function that tells whether a
 * context is empty, so this reads a private field of the API's only implementation. Without that
 * field, an empty context is kept like any other, which only costs memory.
 */
export function activeContext(): Context {
  const active: Context & { readonly _currentContext?: { readonly size?: unknown } } =
    context.active();
  return active._currentContext?.size === 0 ? ROOT_CONTEXT : active;
}

/** Runs a function inside a context. */
export function runIn(wanted: Context, run: () => void): void {
  if (activeContext() === wanted) run();
  else context.with(wanted, run);
}

/** Runs a function outside of any request: for work that serves all requests. */
export function runInNoContext(run: () => void): void {
  runIn(ROOT_CONTEXT, run);
}

/**
 * Whether a context manager is registered. This binds a function and does not run it in a context:
 * on Node 20, the first function that runs in a context makes every promise of the process slower.
 */
export function areContextsCarried(): boolean {
  const target = () => {};
  return context.bind(ROOT_CONTEXT, target) !== target;
}

/**
 * Restores the context in which a request arrived when it is sent, and when its result is emitted.
 * Keeps nothing for requests without a context.
 */
export class ContextPropagator implements Instrumentation {
  readonly #contexts = new WeakMap<object, Context>();

  /** Whether there is a context to remember. */
  needsArrival(): boolean {
    return activeContext() !== ROOT_CONTEXT;
  }

  arrived(subject: object): void {
    this.remember(subject, activeContext());
  }

  around(): Context {
    return activeContext();
  }

  chunkClosed(_items: number, _bytes: number, _reason: ChunkReason, closed?: ClosedChunk): void {
    const [first] = closed?.arounds ?? [];
    if (closed !== undefined && first !== undefined) {
      this.remember(closed.chunk, first as Context);
    }
  }

  sending(subject: object, send: () => void): void {
    runIn(this.of(subject), send);
  }

  delivering(subject: object, deliver: () => void): void {
    runIn(this.of(subject), deliver);
  }

  remember(subject: object, around: Context): void {
    if (around !== ROOT_CONTEXT) this.#contexts.set(subject, around);
  }

  of(subject: object): Context {
    return this.#contexts.get(subject) ?? ROOT_CONTEXT;
  }
}
