import { AxisPlacement, TooltipDisplayMode } from '@grafana/grafana-foundation-sdk/common';
import {
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  HeatmapColorScale,
  HeatmapTooltipBuilder,
  PanelBuilder,
  YAxisConfigBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import { GATE_COLOURS, STATE } from '../colours.ts';
import { LABELS } from '../metrics.ts';
import { buckets, type PanelMaker, PROMETHEUS, query, stacked } from '../parts.ts';
import { meanOf, series, sum, sumRate, WINDOW } from '../promql.ts';
import { coloured } from '../styles.ts';

export function waitingByGate(): PanelMaker {
  const waited = sumRate([LABELS.gate], 'waitDuration', {}, 'sum');
  const panel = stacked({
    title: 'Where the time of requests goes',
    description:
      'How many requests are at each gate and with the API, on average: seconds of theirs for each second. A wait counts when it ends, an attempt while it runs. The widest band is what to change first.',
    unit: 'short',
  })
    .withTarget(query(waited, `{{${LABELS.gate}}}`))
    .withTarget(query(sum([], meanOf(series('active'))), 'API'));
  return coloured(panel, { ...GATE_COLOURS, API: STATE.good });
}

/** One for each gate where requests have waited. */
export function waitHeatMap(): PanelMaker {
  const waits = series('waitDuration', { [LABELS.gate]: '=~"$gate"' }, 'bucket');
  return new PanelBuilder()
    .title('Waits at $gate')
    .description(
      'Each column is a moment, each cell how many waits of that length ended. Two bands: some requests wait for something that others do not.',
    )
    .unit('short')
    .datasource(PROMETHEUS)
    .repeat('gate')
    .repeatDirection('h')
    .maxPerRow(3)
    .calculate(false)
    .cellGap(1)
    .color(
      new HeatmapColorOptionsBuilder()
        .mode(HeatmapColorMode.Scheme)
        .scheme('Turbo')
        .scale(HeatmapColorScale.Exponential)
        .exponent(0.5)
        .steps(64),
    )
    .yAxis(new YAxisConfigBuilder().unit('s').axisPlacement(AxisPlacement.Left))
    .tooltip(new HeatmapTooltipBuilder().mode(TooltipDisplayMode.Single).yHistogram(true))
    .showLegend()
    .withTarget(buckets(`sum by (le) (increase(${waits}[${WINDOW}]))`));
}
