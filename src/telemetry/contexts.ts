import { type Context, context, ROOT_CONTEXT } from '@opentelemetry/api';

/** Runs something while a context is active. */
export function runIn(wanted: Context, run: () => void): void {
  if (context.active() === wanted) run();
  else context.with(wanted, run);
}

const PROOF = Symbol('headgate');

/** Whether contexts are carried at all: whether a context manager was registered. */
export function areContextsCarried(): boolean {
  const proof = ROOT_CONTEXT.setValue(PROOF, true);
  return context.with(proof, () => context.active().getValue(PROOF) === true);
}
