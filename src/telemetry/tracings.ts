import type { Tracer } from '@opentelemetry/api';
import { Tracing } from './tracing.ts';

/** Names whose tracing is shared. */
const MOST_NAMES = 100;

const tracings = new WeakMap<Tracer, Map<string, Tracing>>();

/**
 * What makes the spans of a name; the same for all who ask with one tracer: operators of one stream tell
 * it of the same requests.
 */
export function tracingOf(tracer: Tracer, name: string): Tracing {
  let named = tracings.get(tracer);
  if (named === undefined) {
    named = new Map();
    tracings.set(tracer, named);
  }
  const known = named.get(name);
  if (known !== undefined) return known;
  const tracing = new Tracing(tracer, name);
  if (named.size < MOST_NAMES) named.set(name, tracing);
  return tracing;
}
