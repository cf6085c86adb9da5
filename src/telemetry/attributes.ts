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

export type EventAttributes = Record<string, string | number>;

function stateOf(state: string, reason?: string): EventAttributes {
  const attributes: EventAttributes = { [ATTRIBUTES.state]: state };
  if (reason !== undefined) attributes[ATTRIBUTES.reason] = reason;
  return attributes;
}

/**
 * The attributes of a span event for a change of the circuit breaker; undefined for other events.
 */
export function circuitOf(fact: PolicyEvent): EventAttributes | undefined {
  switch (fact.kind) {
    case 'circuitOpened':
      return stateOf('open', fact.reason);
    case 'circuitIsolated':
      return stateOf('isolated', fact.reason);
    case 'circuitIsolationEnded':
      return stateOf('isolation-ended');
    case 'circuitHalfOpen':
      return stateOf('half-open');
    case 'circuitClosed':
      return stateOf('closed');
    default:
      return undefined;
  }
}

/** A change of an adaptive limit or rate. */
export interface Adaptation {
  readonly what: 'rate' | 'concurrency';
  readonly reason: AdaptationReason;
  readonly from: number;
  readonly to: number;
}

function adapted(
  what: Adaptation['what'],
  reason: AdaptationReason,
  { from, to }: Pick<Adaptation, 'from' | 'to'>,
): Adaptation {
  return { what, reason, from, to };
}

/** The adaptation that an event reports; undefined: the event is about something else. */
export function adaptationOf(fact: PolicyEvent): Adaptation | undefined {
  switch (fact.kind) {
    case 'rateAdapted':
      return adapted('rate', fact.reason, fact);
    case 'limitAdapted':
      return adapted('concurrency', fact.reason, fact);
    case 'decelerated':
      return adapted('concurrency', 'failures', fact);
    case 'reaccelerated':
    case 'ceilingReset':
      return adapted('concurrency', 'recovered', fact);
    default:
      return undefined;
  }
}

/** The attributes of the event of an adaptation. */
export function attributesOf(kind: string, { reason, from, to }: Adaptation): EventAttributes {
  const attributes = stateOf(kind, reason);
  // An unbounded rate is infinite, which a span attribute cannot hold.
  if (Number.isFinite(from)) attributes[ATTRIBUTES.from] = from;
  if (Number.isFinite(to)) attributes[ATTRIBUTES.to] = to;
  return attributes;
}

/** The attributes of a span event for an outage of the provider; undefined for other events. */
export function outageOf(fact: PolicyEvent): EventAttributes | undefined {
  switch (fact.kind) {
    case 'outageStarted':
      return stateOf('started', fact.reason);
    case 'outageEnded':
      return stateOf('ended', fact.reason);
    default:
      return undefined;
  }
}

/**
 * The attributes of a span event for a suspension after a long wait; undefined for other events.
 */
export function suspensionOf(fact: PolicyEvent): EventAttributes | undefined {
  if (fact.kind !== 'suspended') return undefined;
  const { onLongWait, reason, at, untilAt } = fact;
  const seconds = Math.max(0, untilAt - at) / 1_000;
  return { ...stateOf(onLongWait, reason), [ATTRIBUTES.seconds]: seconds };
}
