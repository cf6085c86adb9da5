import type { AdaptationReason, PolicyEvent } from '../model/policy-events.ts';
import { ATTRIBUTES } from './attributes.ts';

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

/** A change of what adapts. */
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

/** Undefined: the fact is no move of the adaptive limit or rate. */
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
  // A rate that nothing bounded is no number that a span can hold.
  if (Number.isFinite(from)) attributes[ATTRIBUTES.from] = from;
  if (Number.isFinite(to)) attributes[ATTRIBUTES.to] = to;
  return attributes;
}

/** The same for an outage of the provider. */
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

/** The same for a decision on a long wait. */
export function suspensionOf(fact: PolicyEvent): EventAttributes | undefined {
  if (fact.kind !== 'suspended') return undefined;
  const { onLongWait, reason, at, untilAt } = fact;
  const seconds = Math.max(0, untilAt - at) / 1_000;
  return { ...stateOf(onLongWait, reason), [ATTRIBUTES.seconds]: seconds };
}
