import { OUTCOME_COLOURS, QUANTILE_COLOURS, STATE } from '../colours.ts';
import { STORE_WORDS, storeState } from '../mappings.ts';
import { LABELS } from '../metrics.ts';
import { type PanelMaker, query, stacked, timeline, timeSeries } from '../parts.ts';
import { max, QUANTILES, quantile, quotient, series, sum, sumRate } from '../promql.ts';
import { coloured, dashed, fixed, rightAxis } from '../styles.ts';

/** What is said where no limiter shares its limits. */
const NO_STORE = 'no store is shared';

export function storeTimeline(): PanelMaker {
  return timeline({
    title: 'Shared store over time',
    description:
      'Since when a process cannot reach the store, and what it does meanwhile: it pauses, or goes on with its share of the limits.',
    unit: 'none',
  })
    .mappings(STORE_WORDS)
    .noValue(NO_STORE)
    .withTarget(query(storeState(), '{{instance}}'));
}

export function fleetShares(): PanelMaker {
  const name = [LABELS.name];
  return timeSeries({
    title: 'Share of each instance, and workers',
    description:
      'The part of the shared limits that each process has while they are short: equal parts for those that send or wait. On the right: workers that the store has heard of, and 1 for the process that runs the learning controller. Fewer workers than there are processes: some have ended, or cannot reach the store.',
    unit: 'percentunit',
  })
    .axisSoftMax(1)
    .noValue(NO_STORE)
    .withTarget(query(series('fleetShare'), `{{instance}} {{${LABELS.name}}}`))
    .withTarget(query(max(name, series('fleetWorkers')), `{{${LABELS.name}}} workers`))
    .withTarget(query(`${series('fleetLeads')} == 1`, `{{instance}} {{${LABELS.name}}} learns`))
    .overrideByRegexp('/ workers$/', [...dashed(STATE.idle), ...rightAxis('short')])
    .overrideByRegexp('/ learns$/', [fixed(STATE.good), ...rightAxis('short')]);
}

export function storeLatency(): PanelMaker {
  const panel = timeSeries({
    title: 'Answers of the shared store',
    description:
      'How long the store took to answer a call, of all processes. Above a few milliseconds its core is busy, or the way is long: requests of idle workers wait for it.',
    unit: 's',
  }).noValue(NO_STORE);
  for (const [name, q] of QUANTILES) {
    panel.withTarget(query(quantile(q, [], 'storeDuration'), name));
  }
  return coloured(panel, QUANTILE_COLOURS);
}

export function storeCalls(): PanelMaker {
  const calls = sumRate([], 'storeCalls');
  const panel = stacked({
    title: 'Calls of the shared store',
    description:
      'Calls a second of all processes, by whether they were answered. A failed call is repeated, and granted once. On the right: calls for a request that was sent. Well below 1 under load, as a call is for many requests.',
    unit: 'ops',
  })
    .noValue(NO_STORE)
    .withTarget(query(sumRate([LABELS.outcome], 'storeCalls'), `{{${LABELS.outcome}}}`))
    .withTarget(query(quotient(calls, sumRate([], 'attempts')), 'calls a request'));
  return coloured(panel, { ok: OUTCOME_COLOURS.ok, failed: OUTCOME_COLOURS.failed }).overrideByName(
    'calls a request',
    [...dashed(STATE.idle), ...rightAxis('short')],
  );
}

export function fleetEvents(): PanelMaker {
  return timeSeries({
    title: 'Lost leases and hand-overs',
    description:
      'How often a process was silent for so long that it lost its slots, and how often the learning controller has moved to another process, in the last five minutes. Several of either: processes are overloaded, killed, or cut off from the store.',
    unit: 'short',
  })
    .noValue(NO_STORE)
    .withTarget(query(sum([], `increase(${series('lostLeases')}[5m])`), 'lost leases'))
    .withTarget(query(sum([], `increase(${series('fleetHandovers')}[5m])`), 'hand-overs'))
    .overrideByName('lost leases', [fixed(STATE.bad)])
    .overrideByName('hand-overs', [fixed(STATE.fair)]);
}
