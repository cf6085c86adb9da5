import { GATE_COLOURS, LIMIT_COLOUR, USAGE_COLOUR } from '../colours.ts';
import { waitsOfSeries } from '../jaeger.ts';
import { LABELS } from '../metrics.ts';
import { type PanelMaker, query, timeSeries } from '../parts.ts';
import { max, meanOf, quantile, series, sumRate } from '../promql.ts';
import { coloured, dashed, fixed, rightAxis } from '../styles.ts';
import { progressShare, remainingSeconds } from './now.ts';

/** Of the requests that waited at a gate, by gate. */
function waitPanel(q: number, name: string, meaning: string): PanelMaker {
  const panel = timeSeries({
    title: `Wait at each gate, ${name}`,
    description: `${meaning} Only requests that did wait at the gate count.`,
    unit: 's',
  })
    .dataLinks([waitsOfSeries()])
    .noValue('nothing waited')
    .withTarget(query(quantile(q, [LABELS.gate], 'waitDuration'), `{{${LABELS.gate}}}`));
  return coloured(panel, GATE_COLOURS);
}

export function medianWait(): PanelMaker {
  return waitPanel(0.5, 'p50', 'Half of the waits at a gate were shorter.');
}

export function p95Wait(): PanelMaker {
  return waitPanel(0.95, 'p95', 'One wait in twenty at a gate was longer.');
}

export function p99Wait(): PanelMaker {
  return waitPanel(0.99, 'p99', 'One wait in a hundred at a gate was longer.');
}

export function backoffTime(): PanelMaker {
  const closed = max([LABELS.name], meanOf(series('backoffActive')));
  const asked = sumRate([LABELS.source], 'backoffDuration', {}, 'sum');
  return timeSeries({
    title: 'Time lost to backoff',
    description:
      'Share of the time in which a 429 kept each limiter closed. On the right: seconds of backoff a second that were begun, by who set them, the API (retry_after) or headgate (computed).',
    unit: 'percentunit',
  })
    .axisSoftMax(1)
    .withTarget(query(closed, `{{${LABELS.name}}} closed`))
    .withTarget(query(asked, `{{${LABELS.source}}}`))
    .overrideByRegexp('/^(retry_after|computed)$/', rightAxis('s'));
}

export function progressOverTime(): PanelMaker {
  return timeSeries({
    title: 'Progress and time left',
    description:
      'Share of the known total that is done. On the right: the time until the rest is, at the rate of that moment.',
    unit: 'percentunit',
  })
    .axisSoftMax(1)
    .noValue('the total is not known')
    .withTarget(query(progressShare(), 'done'))
    .withTarget(query(remainingSeconds(), 'time left'))
    .overrideByName('done', [fixed(USAGE_COLOUR)])
    .overrideByName('time left', [...dashed(LIMIT_COLOUR), ...rightAxis('dtdurations')]);
}
