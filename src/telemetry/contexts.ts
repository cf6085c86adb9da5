import { type Context, context, ROOT_CONTEXT } from '@opentelemetry/api';

/** Runs a function inside a context. */
export function runIn(wanted: Context, run: () => void): void {
  if (context.active() === wanted) run();
  else context.with(wanted, run);
}

const PROOF = Symbol('headgate');

/** Whether a context manager is registered, so that there are contexts at all. */
export function areContextsCarried(): boolean {
  const proof = ROOT_CONTEXT.setValue(PROOF, true);
  return context.with(proof, () => context.active().getValue(PROOF) === true);
}
