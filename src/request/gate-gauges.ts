import type { GaugeSnapshot } from '../model/gauge.ts';
import { GATE_KINDS } from '../model/outcome.ts';
import { measure } from '../policies/policies.ts';
import type { RequestGate } from './request-gate.ts';

/**
 * Every cause of waits with 0 requests, so that it is reported from the start: for a gate that
 * shares limits with other workers.
 */
const NO_SHARED_WAITS: GaugeSnapshot['waiting'] = GATE_KINDS.map((kind) => [kind, 0]);
/** The same for any other gate, where no request waits for a store. */
const NO_WAITS = NO_SHARED_WAITS.filter(([kind]) => kind !== 'shared');

/** The state of a gate for gauges. */
export function gaugesOf({ gate, feedback, fleet, policies }: RequestGate): GaugeSnapshot {
  const none = fleet === undefined ? NO_WAITS : NO_SHARED_WAITS;
  return {
    waiting: [...none, ...gate.waitingByKind],
    isSending: true,
    mode: feedback.mode,
    gauges: { ...measure(policies, feedback.clock.now()), ...fleet?.gauges() },
  };
}
