import { type Context, context, ROOT_CONTEXT } from '@opentelemetry/api';

/** The root context of another copy of the API, once there was one. */
let otherRoot: Context | undefined;

/**
 * Whether a context has no values. A program can load the API twice, as an ES module and as CommonJS:
 * each copy has a root context of its own, and the context manager knows that of one of them. The
 * API cannot tell what a context holds, so this looks at the field of its only implementation. Where
 * that is missing, requests without a context cost as much as those with one.
 */
export function isRoot(around: Context): boolean {
  if (around === ROOT_CONTEXT || around === otherRoot) return true;
  const values: unknown = '_currentContext' in around ? around._currentContext : undefined;
  if (!(values instanceof Map) || values.size > 0) return false;
  otherRoot = around;
  return true;
}

/** Runs a function inside a context. */
export function runIn(wanted: Context, run: () => void): void {
  const active = context.active();
  if (active === wanted || (isRoot(active) && isRoot(wanted))) run();
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
