import type { Condition } from '../wire.ts';

export const CONDITION_NAMES: Readonly<Record<Condition, string>> = {
  idle: 'Idle',
  flowing: 'Flowing',
  held: 'Held back',
  throttled: 'Throttled',
  backoff: 'Backing off',
  suspended: 'Suspended',
  failing: 'Failing',
  outage: 'Outage',
  circuitOpen: 'Circuit open',
  paused: 'Paused',
  draining: 'Draining',
  closed: 'Closed',
  ended: 'Ended',
};
