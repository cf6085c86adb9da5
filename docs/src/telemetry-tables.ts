import { ATTRIBUTES, EVENT_NAMES, SPAN_NAMES } from '../../src/telemetry/attributes.ts';
import type { Metric } from '../../src/telemetry/meter.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';
import { code, tableOf } from './markdown.ts';

/** What spans and their events tell, for documents: programs need their names alone. */

/** The definition of a span, or of an event on a span. */
interface Trace {
  readonly name: string;
  readonly attributes: readonly string[];
  readonly meaning: string;
}

const A = ATTRIBUTES;
const S = SPAN_NAMES;
const E = EVENT_NAMES;

export const SPANS = {
  request: trace(
    S.request,
    [A.name, A.mode, A.bytes, A.tokens, A.attempts, A.epoch, A.outcome, A.gate, A.errorType],
    'a request, from arrival to its end; `headgate.mode` at its arrival; `headgate.gate` if it ended while it waited there',
  ),
  wait: trace(
    S.wait,
    [A.name, A.gate, A.limit, A.rounds, A.seconds],
    'a wait for something, of more than 1 ms; links to the request, and its attempt, whose 429 caused it (of its own request only to the attempt); `headgate.seconds` is how much of it was waited for this, where other waits lie in between',
  ),
  attempt: trace(
    S.attempt,
    [A.name, A.resends, A.status, A.errorType],
    'one call to the API; spans of your HTTP client are below it',
  ),
  chunk: trace(
    S.chunk,
    [A.name, A.items, A.bytes, A.reason],
    'a chunk, from its first item to its close; below the span of its first traced item, with links to those of the others',
  ),
} as const satisfies Record<keyof typeof SPAN_NAMES, Trace>;

/** Events on the span of the request that caused them. */
export const EVENTS = {
  wait: trace(E.wait, [A.gate, A.limit, A.seconds], 'a wait for something, of up to 1 ms'),
  backoff: trace(E.backoff, [A.seconds, A.source], 'its 429 closed the backoff gate'),
  mode: trace(
    E.mode,
    [A.mode],
    'its 429 began throttled mode, or showed that the API lets nothing in',
  ),
  circuit: trace(E.circuit, [A.state, A.reason], 'its end changed the circuit breaker'),
  adaptation: trace(
    E.adaptation,
    [A.state, A.reason, A.from, A.to],
    'its end moved the adaptive limit, or rate',
  ),
  outage: trace(
    E.outage,
    [A.state, A.reason],
    'its end showed that the API cannot be reached or lets nothing in (`started`), or that this is over (`ended`)',
  ),
  suspended: trace(
    E.suspended,
    [A.state, A.reason, A.seconds],
    'its answer said that the API takes nothing for long: all requests fail or wait (`fail`, `wait`)',
  ),
} as const satisfies Record<keyof typeof EVENT_NAMES, Trace>;

function trace(name: string, attributes: readonly string[], meaning: string): Trace {
  return { name, attributes, meaning };
}

/** The metrics as a table in Markdown, for the documentation. */
export function metricTable(): string {
  const rows = Object.values<Metric>(METRICS).map(
    ({ name, instrument, unit, attributes, meaning }) => [
      code(name),
      // In code: outside of it, the site takes braces for attributes.
      `${instrument}, ${code(unit)}`,
      attributes.map(code).join(', '),
      meaning,
    ],
  );
  return tableOf(['metric', 'instrument, unit', 'attributes', 'meaning'], rows);
}

/** The spans, and the events on them, as a table in Markdown. */
export function spanTable(): string {
  const rows = [
    ...Object.values(SPANS).map((span) => rowOf(span, 'span')),
    ...Object.values(EVENTS).map((event) => rowOf(event, 'event')),
  ];
  return tableOf(['name', 'is', 'attributes', 'meaning'], rows);
}

function rowOf({ name, attributes, meaning }: Trace, kind: string): string[] {
  return [code(name), kind, attributes.map(code).join(', '), meaning];
}
