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
import { buckets, coloured, type PanelMaker, PROMETHEUS, query, stacked } from '../parts.ts';
import { series, sumRate, WINDOW } from '../promql.ts';

export function waitingByGate(): PanelMaker {
  const waited = sumRate([LABELS.gate], 'waitDuration', {}, 'sum');
  const attempting = `clamp_min(${sumRate([], 'requestDuration', {}, 'sum')} - sum(${waited}), 0)`;
  const panel = stacked({
    title: 'Where the time of requests goes',
    description:
      'Seconds that requests spent at each gate and with the API, for each second. It counts when a wait or a request ends. The widest band is what to change first.',
    unit: 's',
  })
    .withTarget(query(waited, `{{${LABELS.gate}}}`))
    .withTarget(query(attempting, 'API'));
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
