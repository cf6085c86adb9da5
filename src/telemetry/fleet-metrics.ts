import { ATTRIBUTES } from './attributes.ts';
import { counter, gauge, histogram, type Metric } from './meter.ts';

/** Seconds: from a store on the same machine to one that is as good as away. */
const CALL_SECONDS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
];

const { outcome, meanwhile } = ATTRIBUTES;

/** The metrics of workers that share the limits of one key. */
export const FLEET_METRICS = {
  fleetShare: gauge(
    'headgate.fleet.share',
    '1',
    [],
    'the part of the shared limits that is this process’s while they are short',
  ),
  fleetWorkers: {
    ...gauge(
      'headgate.fleet.workers',
      '{worker}',
      [],
      'workers that the shared store has heard of',
    ),
    together: 'greatest',
  },
  fleetLeads: gauge(
    'headgate.fleet.leads',
    '1',
    [],
    '1: this process runs the learning controller of its fleet',
  ),
  fleetHandovers: counter(
    'headgate.fleet.handovers',
    '{handover}',
    [],
    'how often this process has taken over the learning controller of its fleet',
  ),
  storeAway: {
    ...gauge(
      'headgate.store.away',
      '1',
      [meanwhile],
      '1: the shared store cannot be reached, and meanwhile nothing is sent (`pause`), or a share of the limits is (`share`)',
    ),
    together: 'greatest',
  },
  storeCalls: counter(
    'headgate.store.calls',
    '{call}',
    [outcome],
    'calls of the shared store, by whether they were answered (`ok`), or failed or were too slow (`failed`) and were repeated',
  ),
  storeDuration: histogram(
    'headgate.store.duration',
    's',
    [],
    'how long the shared store took to answer a call',
    CALL_SECONDS,
  ),
  lostLeases: counter(
    'headgate.store.lost_leases',
    '{lease}',
    [],
    'how often this process was silent for so long that it lost the slots and bytes that it held',
  ),
} as const satisfies Record<string, Metric & { readonly together?: 'sum' | 'greatest' }>;
