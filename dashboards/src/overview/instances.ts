import { LABELS } from '../metrics.ts';
import { type PanelMaker, query, stacked, timeSeries } from '../parts.ts';
import { orZero, quotient, series, sum, sumRate } from '../promql.ts';

const BY_INSTANCE = ['instance'];
const LEGEND = '{{instance}}';

export function endedByInstance(): PanelMaker {
  return stacked({
    title: 'Requests ended, by instance',
    description:
      'What each process contributes. One that contributes nothing while others do has stopped, or gets no work.',
    unit: 'reqps',
  }).withTarget(query(sumRate(BY_INSTANCE, 'requests'), LEGEND));
}

export function waitingByInstance(): PanelMaker {
  return stacked({
    title: 'Requests that wait, by instance',
    description:
      'Where the backlog is. Far more in one than in others: the work is spread unevenly, or something holds this one back.',
    unit: 'short',
  }).withTarget(query(sum(BY_INSTANCE, series('queued')), LEGEND));
}

export function throttledByInstance(): PanelMaker {
  const attempts = sumRate(BY_INSTANCE, 'attempts');
  const throttled = sumRate(BY_INSTANCE, 'attempts', { [LABELS.errorType]: '="429"' });
  return timeSeries({
    title: '429 answers, share of attempts, by instance',
    description:
      'Whether the API turns all instances away, or one. All: together they send more than the API grants to their key.',
    unit: 'percentunit',
  })
    .axisSoftMax(0.06)
    .withTarget(query(quotient(orZero(throttled, attempts), attempts), LEGEND));
}
