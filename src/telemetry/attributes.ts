import type { AdaptationReason, PolicyEvent } from '../model/policy-events.ts';

/** The names in a record, each with the prefix of this package. */
function own<N extends string>(...names: readonly N[]) {
  const named = names.map((name) => [name, `headgate.${name}`]);
  return Object.fromEntries(named) as { readonly [K in N]: `headgate.${K}` };
}

/** The names of attributes of metrics, spans and events. */
export const ATTRIBUTES = {
  ...own(
    'name',
    'gate',
    'outcome',
    'mode',
    'limit',
    'source',
    'state',
    'reason',
    'bytes',
    'tokens',
    'attempts',
    'epoch',
    'rounds',
    'seconds',
    'items',
    'kind',
    'unit',
    'what',
    'from',
    'to',
    'meanwhile',
  ),
  errorType: 'error.type',
  status: 'http.response.status_code',
  resends: 'http.request.resend_count',
} as const;

/** The names of spans, which `docs/src/telemetry-tables.ts` describes. */
export const SPAN_NAMES = own('request', 'wait', 'attempt', 'chunk');

/** The names of events on the span of the request that caused them. */
export const EVENT_NAMES = own(
  'wait',
  'backoff',
  'mode',
  'circuit',
  'adaptation',
  'outage',
  'suspended',
);

export type EventName = (typeof EVENT_NAMES)[keyof typeof EVENT_NAMES];

/** How many values of an attribute (such as names of rate limits) have a series of their own. */
export const MOST_VALUES = 20;

/** The value that stands for all values beyond the bound. */
const OTHER = '_OTHER';

/** Bounds the number of values of an attribute: later ones become `_OTHER`. */
export class Labels {
  readonly #most: number;
  readonly #known: Set<string>;

  /** @param reserved values that are kept in any case */
  constructor(most: number, reserved: readonly string[] = []) {
    this.#most = most;
    this.#known = new Set(reserved);
  }

  of(value: string): string {
    if (this.#known.has(value)) return value;
    if (this.#known.size >= this.#most) return OTHER;
    this.#known.add(value);
    return value;
  }
}

/** A change of an adaptive limit or rate. */
interface Adaptation {
  readonly what: 'rate' | 'concurrency';
  readonly reason: AdaptationReason;
  readonly from: number;
  readonly to: number;
}

/** The adaptation that an event reports; undefined: the event is about something else. */
export function adaptationOf(fact: PolicyEvent): Adaptation | undefined {
  if (!('from' in fact)) return undefined;
  const { from, to } = fact;
  const what = fact.kind === 'rateAdapted' ? 'rate' : 'concurrency';
  const plain = fact.kind === 'decelerated' ? 'failures' : 'recovered';
  return { what, reason: 'reason' in fact ? fact.reason : plain, from, to };
}

export type EventAttributes = Record<string, string | number>;

/** The span events that have only a state and a reason. */
const STATES: Readonly<Partial<Record<PolicyEvent['kind'], readonly [EventName, string]>>> = {
  circuitOpened: [EVENT_NAMES.circuit, 'open'],
  circuitIsolated: [EVENT_NAMES.circuit, 'isolated'],
  circuitIsolationEnded: [EVENT_NAMES.circuit, 'isolation-ended'],
  circuitHalfOpen: [EVENT_NAMES.circuit, 'half-open'],
  circuitClosed: [EVENT_NAMES.circuit, 'closed'],
  outageStarted: [EVENT_NAMES.outage, 'started'],
  outageEnded: [EVENT_NAMES.outage, 'ended'],
};

/** The span event for a change that a policy reports; undefined: there is none. */
export function spanEventOf(
  fact: PolicyEvent,
): readonly [name: EventName, attributes: EventAttributes] | undefined {
  const adaptation = adaptationOf(fact);
  if (adaptation !== undefined) {
    const { reason, from, to } = adaptation;
    const attributes = stateOf(fact.kind, reason);
    // An unbounded rate is infinite, which a span attribute cannot hold.
    if (Number.isFinite(from)) attributes[ATTRIBUTES.from] = from;
    if (Number.isFinite(to)) attributes[ATTRIBUTES.to] = to;
    return [EVENT_NAMES.adaptation, attributes];
  }
  if (fact.kind === 'suspended') {
    const seconds = Math.max(0, fact.untilAt - fact.at) / 1_000;
    const attributes = stateOf(fact.onLongWait, fact.reason);
    return [EVENT_NAMES.suspended, { ...attributes, [ATTRIBUTES.seconds]: seconds }];
  }
  const [name, state] = STATES[fact.kind] ?? [];
  if (name === undefined || state === undefined) return undefined;
  return [name, stateOf(state, 'reason' in fact ? fact.reason : undefined)];
}

function stateOf(state: string, reason?: string): EventAttributes {
  const attributes: EventAttributes = { [ATTRIBUTES.state]: state };
  if (reason !== undefined) attributes[ATTRIBUTES.reason] = reason;
  return attributes;
}
