import type { CoreFact } from '../model/facts.ts';
import { ATTRIBUTES } from './names.ts';

type Said = Record<string, string | number>;

/** The attributes of the event of a change of the circuit breaker; undefined: the fact is none. */
export function circuitOf(fact: CoreFact): Said | undefined {
  switch (fact.kind) {
    case 'circuitOpened': {
      const said: Said = { [ATTRIBUTES.state]: 'open' };
      if (fact.reason !== undefined) said[ATTRIBUTES.reason] = fact.reason;
      return said;
    }
    case 'circuitIsolated': {
      const said: Said = { [ATTRIBUTES.state]: 'isolated' };
      if (fact.reason !== undefined) said[ATTRIBUTES.reason] = fact.reason;
      return said;
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

/** The same for a move of the adaptive limit or rate. */
export function adaptationOf(fact: CoreFact): Said | undefined {
  switch (fact.kind) {
    case 'decelerated':
    case 'reaccelerated':
    case 'ceilingReset':
    case 'limitAdapted':
    case 'rateAdapted': {
      const { kind, from, to } = fact;
      return { [ATTRIBUTES.state]: kind, [ATTRIBUTES.from]: from, [ATTRIBUTES.to]: to };
    }
    default:
      return undefined;
  }
}

/** The same for an outage of the provider. */
export function outageOf(fact: CoreFact): Said | undefined {
  switch (fact.kind) {
    case 'outageStarted':
      return { [ATTRIBUTES.state]: 'started' };
    case 'outageEnded':
      return { [ATTRIBUTES.state]: 'ended' };
    default:
      return undefined;
  }
}
