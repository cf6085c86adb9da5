import { type Context, context, ROOT_CONTEXT } from '@opentelemetry/api';

/** Runs a function inside a context. */
export function runIn(wanted: Context, run: () => void): void {
  if (context.active() === wanted) run();
  else context.with(wanted, run);
}

/**
 * Whether a context manager is registered, so that there are contexts at all. Nothing runs in a
 * context for that: the first such run makes every promise of the process slower, on Node 20.
 */
export function areContextsCarried(): boolean {
  const target = () => {};
  return context.bind(ROOT_CONTEXT, target) !== target;
}
