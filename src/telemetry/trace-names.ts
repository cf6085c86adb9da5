/** The names of spans. `traces.ts` describes them. */
export const SPAN_NAMES = {
  request: 'headgate.request',
  wait: 'headgate.wait',
  attempt: 'headgate.attempt',
  chunk: 'headgate.chunk',
} as const;

/** The names of events on the span of the request that caused them. */
export const EVENT_NAMES = {
  wait: 'headgate.wait',
  backoff: 'headgate.backoff',
  mode: 'headgate.mode',
  circuit: 'headgate.circuit',
  adaptation: 'headgate.adaptation',
  outage: 'headgate.outage',
  suspended: 'headgate.suspended',
} as const;
