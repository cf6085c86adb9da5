import type { PolicyMetric } from '../../../src/model/gauge.ts';
import { POLICY_METRICS, type PolicyMetricKey } from '../../../src/policies/policies.ts';
import { LIMIT_COLOUR, STATE, USAGE_COLOUR } from '../colours.ts';
import { BREAKER_WORDS, breakerState } from '../mappings.ts';
import { LABELS } from '../metrics.ts';
import { type PanelMaker, query, sideLegend, timeline, timeSeries } from '../parts.ts';
import { max, ownOrShared, series, sum, sumRate } from '../promql.ts';
import { dashed, fixed, levelLines, levels, rightAxis } from '../styles.ts';
import { rateUse } from '../usage.ts';

export function byteBudget(): PanelMaker {
  return timeSeries({
    title: 'Bytes in flight, against the budget',
    description:
      'Estimated bytes of the requests that run, in all instances together; a budget that they share through a store counts once. Above the budget: one large request overdraws it, and nothing else starts until it ends. In throttled mode each request counts for more.',
    unit: 'bytes',
  })
    .withTarget(query(sum([], series('bytesUsed')), 'in flight'))
    .withTarget(query(sum([], ownOrShared('max', series('bytesLimit'))), 'budget'))
    .withTarget(query(sumRate([], 'requestSize'), 'sent a second'))
    .overrideByName('in flight', [fixed(USAGE_COLOUR)])
    .overrideByName('budget', dashed(LIMIT_COLOUR))
    .overrideByName('sent a second', [fixed(STATE.good), ...rightAxis('Bps')]);
}

export function rateLimits(): PanelMaker {
  const by = [LABELS.name, LABELS.limit];
  return timeSeries({
    title: 'Use of each rate limit',
    description:
      'Share of each limit’s window that is used up, in the instance where it is fullest; of one that is shared through a store, what all instances have used. A limit near 100 % is the one to raise; one that stays low costs nothing.',
    unit: 'percentunit',
  })
    .axisSoftMax(1)
    .thresholds(levels([null, 'transparent'], [0.98, STATE.fair]))
    .thresholdsStyle(levelLines())
    .noValue('no rate limit is set')
    .withTarget(query(max(by, rateUse()), `{{${LABELS.name}}} {{${LABELS.limit}}}`));
}

export function adaptivePace(): PanelMaker {
  return timeSeries({
    title: 'Adaptive rate and interval',
    description:
      'The rate that each limiter aims at and where it has that from (your limit, the API’s headers, or learned from its 429s), what the API accepted when it last had nothing left (ceiling), and the rate at which it sends. All instances together; a rate that they share through a store counts once. On the right: the time between two dispatches of the slowest instance, if there is a pace.',
    unit: 'reqps',
  })
    .legend(sideLegend())
    .noValue('no rate is set or learned')
    .withTarget(
      query(
        `${sum([LABELS.name, LABELS.source], ownOrShared('max', series('rateTarget'), [LABELS.source]))} > 0`,
        `{{${LABELS.name}}} target, {{${LABELS.source}}}`,
      ),
    )
    .withTarget(
      query(
        `${sum([LABELS.name], ownOrShared('max', series('rateCeiling')))} > 0`,
        `{{${LABELS.name}}} ceiling`,
      ),
    )
    .withTarget(query(sumRate([LABELS.name], 'attempts'), `{{${LABELS.name}}} sent`))
    .withTarget(query(max([LABELS.name], series('interval')), `{{${LABELS.name}}} interval`))
    .overrideByRegexp('/ ceiling$/', dashed(LIMIT_COLOUR))
    .overrideByRegexp('/ interval$/', rightAxis('s'));
}

/** Gauges of policies that have a panel of their own. */
const ON_OTHER_PANELS: readonly string[] = [
  'concurrencyLimit',
  'bytesUsed',
  'bytesLimit',
  'backoffActive',
  'rateTarget',
  'rateCeiling',
  'outage',
  'circuit',
  'rateUsed',
  'rateLimit',
  'interval',
] satisfies PolicyMetricKey[];

/** What other policies report of themselves, as they describe it. */
export function otherPolicies(): PanelMaker {
  const keys = Object.keys(POLICY_METRICS) as PolicyMetricKey[];
  const others = keys.filter((key) => !ON_OTHER_PANELS.includes(key));
  const panel = timeSeries({
    title: 'Other policies',
    description: others
      .map((key) => `${labelOf(POLICY_METRICS[key])}: ${POLICY_METRICS[key].meaning}.`)
      .join(' '),
    unit: 'short',
  }).noValue('no such policy is on');
  for (const key of others) {
    const { by, together } = POLICY_METRICS[key];
    const labels = by === undefined ? [LABELS.name] : [LABELS.name, LABELS[by]];
    const value = (together === 'greatest' ? max : sum)(labels, series(key));
    const legend = labels.map((label) => `{{${label}}}`).join(' ');
    panel.withTarget(query(value, `${legend} ${labelOf(POLICY_METRICS[key])}`));
  }
  return panel;
}

function labelOf({ name }: PolicyMetric): string {
  return name.replace(/^headgate\./, '').replaceAll(/[._]/g, ' ');
}

export function breakerTimeline(): PanelMaker {
  return timeline({
    title: 'Circuit breaker over time',
    description:
      'Open: nothing is sent. Half-open: a probe is. Often open means that the API is down, or that its errors are of the request’s own making.',
    unit: 'none',
  })
    .mappings(BREAKER_WORDS)
    .noValue('no circuit breaker is set')
    .withTarget(query(breakerState(), `{{${LABELS.name}}}`));
}
