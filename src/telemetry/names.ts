/** The names of attributes of metrics, spans and events. */
export const ATTRIBUTES = {
  name: 'headgate.name',
  gate: 'headgate.gate',
  outcome: 'headgate.outcome',
  mode: 'headgate.mode',
  limit: 'headgate.limit',
  source: 'headgate.source',
  state: 'headgate.state',
  reason: 'headgate.reason',
  bytes: 'headgate.bytes',
  tokens: 'headgate.tokens',
  attempts: 'headgate.attempts',
  epoch: 'headgate.epoch',
  rounds: 'headgate.rounds',
  seconds: 'headgate.seconds',
  items: 'headgate.items',
  kind: 'headgate.kind',
  unit: 'headgate.unit',
  what: 'headgate.what',
  from: 'headgate.from',
  to: 'headgate.to',
  meanwhile: 'headgate.meanwhile',
  errorType: 'error.type',
  status: 'http.response.status_code',
  resends: 'http.request.resend_count',
} as const;

/** The names of spans. `tables.ts` describes them. */
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
