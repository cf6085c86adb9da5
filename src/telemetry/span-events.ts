import type { AdaptationReason, PolicyEvent } from '../model/policy-events.ts';
import { ATTRIBUTES } from './names.ts';

type EventAttributes = Record<string, string | number>;

/**
 * The attributes of a span event for a change of the circuit breaker; undefined for other events.
 */
export function circuitOf(fact: PolicyEvent): EventAttributes | undefined {
  switch (fact.kind) {
    case 'circuitOpened': {
      const attributes: EventAttributes = { [ATTRIBUTES.state]: 'open' };
      if (fact.reason !== undefined) attributes[ATTRIBUTES.reason] = fact.reason;
      return attributes;
    }
    case 'circuitIsolated': {
      const attributes: EventAttributes = { [ATTRIBUTES.state]: 'isolated' };
      if (fact.reason !== undefined) attributes[ATTRIBUTES.reason] = fact.reason;
      return attributes;
    }
    case 'circuitIsolationEnded':
      return { [ATTRIBUTES.state]: 'isolation-ended' };
    case 'circuitHalfOpen':
      return { [ATTRIBUTES.state]: 'half-open' };
    case 'circuitClosed':
      return { [ATTRIBUTES.state]: 'closed' };
    default:
      return undefined;
  }
}

/** A change of what adapts. */
export interface Adaptation {
  readonly what: 'rate' | 'concurrency' | 'interval';
  readonly reason: AdaptationReason;
  readonly from: number;
  readonly to: number;
}

/** Undefined: the fact is no move of the adaptive limit or rate. */
export function adaptationOf(fact: PolicyEvent): Adaptation | undefined {
  switch (fact.kind) {
    case 'rateAdapted':
      return { what: 'rate', reason: fact.reason, from: fact.from, to: fact.to };
    case 'limitAdapted':
      return { what: 'concurrency', reason: fact.reason, from: fact.from, to: fact.to };
    case 'decelerated':
      return { what: 'concurrency', reason: 'failures', from: fact.from, to: fact.to };
    case 'reaccelerated':
    case 'ceilingReset':
      return { what: 'concurrency', reason: 'recovered', from: fact.from, to: fact.to };
    default:
      return undefined;
  }
}

/** The attributes of the event of an adaptation. */
export function attributesOf(kind: string, { reason, from, to }: Adaptation): EventAttributes {
  const attributes: EventAttributes = { [ATTRIBUTES.state]: kind, [ATTRIBUTES.reason]: reason };
  // A rate that nothing bounded is no number that a span can hold.
  if (Number.isFinite(from)) attributes[ATTRIBUTES.from] = from;
  if (Number.isFinite(to)) attributes[ATTRIBUTES.to] = to;
  return attributes;
}

/** The same for an outage of the provider. */
export function outageOf(fact: PolicyEvent): EventAttributes | undefined {
  switch (fact.kind) {
    case 'outageStarted':
      return { [ATTRIBUTES.state]: 'started', [ATTRIBUTES.reason]: fact.reason };
    case 'outageEnded':
      return { [ATTRIBUTES.state]: 'ended', [ATTRIBUTES.reason]: fact.reason };
    default:
      return undefined;
  }
}

/** The same for a decision on a long wait. */
export function suspensionOf(fact: PolicyEvent): EventAttributes | undefined {
  if (fact.kind !== 'suspended') return undefined;
  const { onLongWait, reason, at, untilAt } = fact;
  const seconds = Math.max(0, untilAt - at) / 1_000;
  return {
    [ATTRIBUTES.state]: onLongWait,
    [ATTRIBUTES.reason]: reason,
    [ATTRIBUTES.seconds]: seconds,
  };
}
