import { LIMIT_COLOUR, OUTCOME_COLOURS, STATE, USAGE_COLOUR } from '../colours.ts';
import { BINDING_WORDS, bindingGate, limitInForce, MODE_WORDS, modeInForce } from '../mappings.ts';
import { LABELS } from '../metrics.ts';
import { type PanelMaker, query, stacked, timeline, timeSeries } from '../parts.ts';
import { orZero, ownOrShared, quotient, series, sum, sumRate } from '../promql.ts';
import { coloured, dashed, fixed, levelLines, levels } from '../styles.ts';

export function throughput(): PanelMaker {
  const panel = stacked({
    title: 'Requests ended, by outcome',
    description:
      'Throughput. "rejected": a limit of your own refused it and it was never sent. "reclaimed": a ticket was lost between gates, which is a bug in an operator between them.',
    unit: 'reqps',
  }).withTarget(query(sumRate([LABELS.outcome], 'requests'), `{{${LABELS.outcome}}}`));
  return coloured(panel, OUTCOME_COLOURS);
}

export function throttledRate(): PanelMaker {
  const byName = [LABELS.name];
  const attempts = sumRate(byName, 'attempts');
  const throttled = sumRate(byName, 'attempts', { [LABELS.errorType]: '="429"' });
  return timeSeries({
    title: '429 answers, share of attempts',
    description:
      'How often the API turns each limiter away. The dashed line is 5 %, where an alert starts to count.',
    unit: 'percentunit',
  })
    .axisSoftMax(0.06)
    .thresholds(levels([null, 'transparent'], [0.05, STATE.bad]))
    .thresholdsStyle(levelLines())
    .withTarget(query(quotient(orZero(throttled, attempts), attempts), `{{${LABELS.name}}}`));
}

export function modeTimeline(): PanelMaker {
  return timeline({
    title: 'Mode over time',
    description:
      'Since when, and how often, each limiter is in throttled mode, or the API lets nothing in.',
    unit: 'none',
  })
    .mappings(MODE_WORDS)
    .withTarget(query(modeInForce(), `{{${LABELS.name}}}`));
}

export function bindingTimeline(): PanelMaker {
  return timeline({
    title: 'What bound, over time',
    description:
      'The gate that requests of each limiter waited for. The colour of a gate is the same in every panel.',
    unit: 'none',
  })
    .mappings(BINDING_WORDS)
    .withTarget(query(bindingGate(), `{{${LABELS.name}}}`));
}

export function inFlight(): PanelMaker {
  return timeSeries({
    title: 'In flight, against the limit',
    description:
      'Attempts that run now, and how many may, in all instances together; a limit that they share through a store counts once. Well below the limit while requests wait: another gate binds. The limit falls in throttled mode, and moves if it is adaptive. In an outage single probes go, whatever the limit.',
    unit: 'short',
  })
    .withTarget(query(sum([], series('active')), 'in flight'))
    .withTarget(query(sum([], ownOrShared('max', limitInForce())), 'limit'))
    .overrideByName('in flight', [fixed(USAGE_COLOUR)])
    .overrideByName('limit', dashed(LIMIT_COLOUR));
}
