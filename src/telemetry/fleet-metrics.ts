import { ATTRIBUTES } from './attributes.ts';
import { counter, gauge, histogram, type Metric } from './meter.ts';

/** Seconds: from a store on the same machine to a store that hardly answers. */
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
    'share of the shared limits that this process gets while they are short',
  ),
  fleetWorkers: {
    ...gauge('headgate.fleet.workers', '{worker}', [], 'workers that the shared store knows'),
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
    'calls of the shared store: answered (`ok`), or failed or too slow, and then repeated (`failed`)',
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
    'how often this process lost its slots and bytes because it had not called the store for too long',
  ),
} as const satisfies Record<string, Metric & { readonly together?: 'sum' | 'greatest' }>;
