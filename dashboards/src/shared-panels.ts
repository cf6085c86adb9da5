import { GATE_COLOURS, QUANTILE_COLOURS } from './colours.ts';
import { LABELS } from './metrics.ts';
import { type PanelMaker, query, stacked, timeSeries } from './parts.ts';
import { QUANTILES, quantile, series, sum } from './promql.ts';
import { coloured } from './styles.ts';

/** The queues, of all chosen limiters together. */
export function queues(): PanelMaker {
  const panel = stacked({
    title: 'Requests that wait, by gate',
    description:
      'Where the backlog is. A queue that only grows means that more comes than the limits let through.',
    unit: 'short',
  }).withTarget(query(sum([LABELS.gate], series('queued')), `{{${LABELS.gate}}}`));
  return coloured(panel, GATE_COLOURS);
}

/** How long requests take, as whoever sends them sees it. */
export function latency(): PanelMaker {
  const panel = timeSeries({
    title: 'From arrival to the end',
    description:
      'How long requests took in all: waits at gates, every attempt, and the delays between them. Lines far apart: few requests wait very long.',
    unit: 's',
  });
  for (const [name, q] of QUANTILES) {
    panel.withTarget(query(quantile(q, [], 'requestDuration'), name));
  }
  return coloured(panel, QUANTILE_COLOURS);
}
