import { STATE } from '../colours.ts';
import { LABELS } from '../metrics.ts';
import { type PanelMaker, query, stacked, timeSeries } from '../parts.ts';
import { QUANTILES, quantile, quotient, sumRate } from '../promql.ts';
import { levelLines, levels } from '../styles.ts';

export function estimateRatio(): PanelMaker {
  const panel = timeSeries({
    title: 'Estimated / actual size, over time',
    description:
      'How well sizes, in bytes or tokens, are estimated: 1 is exact. Below 1 the limits let too much through, above 1 too little.',
    unit: 'none',
  })
    .thresholds(levels([null, 'transparent'], [1, STATE.idle]))
    .thresholdsStyle(levelLines())
    .noValue('no actual size is known');
  for (const [name, q] of QUANTILES) {
    const ratio = quantile(q, [LABELS.unit], 'estimateRatio');
    panel.withTarget(query(ratio, `{{${LABELS.unit}}} ${name}`));
  }
  return panel;
}

export function estimatedSizes(): PanelMaker {
  return timeSeries({
    title: 'Estimated sizes, by kind (p95)',
    description:
      'How large requests are that pass `byteEstimate`, by what their size was estimated from. Images and long texts fill the byte budget.',
    unit: 'bytes',
  })
    .noValue('no byteEstimate')
    .withTarget(query(quantile(0.95, [LABELS.kind], 'estimate'), `{{${LABELS.kind}}}`));
}

export function chunkSizes(): PanelMaker {
  const mean = quotient(sumRate([], 'chunkSize', {}, 'sum'), sumRate([], 'chunkSize', {}, 'count'));
  return timeSeries({
    title: 'Items in a chunk',
    description:
      'How full chunks are. Small ones cost requests: let them wait longer (`maxDelayMs`), or allow them more bytes.',
    unit: 'short',
  })
    .noValue('nothing is chunked')
    .withTarget(query(mean, 'mean'))
    .withTarget(query(quantile(0.5, [], 'chunkSize'), 'p50'))
    .withTarget(query(quantile(0.95, [], 'chunkSize'), 'p95'));
}

export function chunkReasons(): PanelMaker {
  return stacked({
    title: 'Chunks closed, by reason',
    description:
      'items, bytes: the chunk was full. delay: it had waited long enough. complete: the source ended.',
    unit: 'cps',
  })
    .noValue('nothing is chunked')
    .withTarget(query(sumRate([LABELS.reason], 'chunkFlushes'), `{{${LABELS.reason}}}`));
}
