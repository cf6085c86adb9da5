import type { GaugeSnapshot } from '../model/gauge.ts';
import { KINDS, measure } from '../policies/policies.ts';
import type { RequestGate } from './request-gate.ts';

/** Every cause of waits with 0 requests, so that it is reported from the start. */
const NO_WAITS: GaugeSnapshot['waiting'] = ([...KINDS, 'retry', 'paused'] as const).map((kind) => [
  kind,
  0,
]);
/** The same for a gate that shares limits with other workers. */
const NO_SHARED_WAITS: GaugeSnapshot['waiting'] = [...NO_WAITS, ['shared', 0]];

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
