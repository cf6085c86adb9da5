import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import {
  AxisPlacement,
  BigValueColorMode,
  BigValueGraphMode,
  GraphGradientMode,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type DynamicConfigValue,
  FieldColorBuilder,
  FieldColorModeId,
  type Panel,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { chosen } from './chosen.ts';

export type PanelMaker = Builder<Panel>;

/** The data source that the reader has chosen at the top of the dashboard. */
export const PROMETHEUS = { type: 'prometheus', uid: chosen('datasource') } as const;

/** What every panel says of itself. */
export interface Heading {
  readonly title: string;
  /** What the panel answers, and what to do about a bad answer. */
  readonly description: string;
  /** Grafana's name of the unit. */
  readonly unit: string;
}

/** A query whose results are drawn over time. */
export function query(expression: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .datasource(PROMETHEUS)
    .expr(expression)
    .legendFormat(legend)
    .range();
}

/** A query for the present value alone. */
export function present(expression: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .datasource(PROMETHEUS)
    .expr(expression)
    .legendFormat(legend)
    .instant();
}

/** A query for the buckets of a histogram, as a heat map draws them. */
export function buckets(expression: string): DataqueryBuilder {
  return query(expression, '{{le}}').format(PromQueryFormat.Heatmap);
}

/** Lines over time, with the last and the highest value of each. */
export function timeSeries({ title, description, unit }: Heading): timeseries.PanelBuilder {
  return new timeseries.PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(PROMETHEUS)
    .min(0)
    .lineWidth(2)
    .fillOpacity(10)
    .gradientMode(GraphGradientMode.Opacity)
    .showPoints(VisibilityMode.Never)
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder()
        .mode(TooltipDisplayMode.Multi)
        .sort(SortOrder.Descending),
    );
}

/** Areas on top of each other: parts of a whole. */
export function stacked(heading: Heading): timeseries.PanelBuilder {
  return timeSeries(heading)
    .fillOpacity(45)
    .lineWidth(1)
    .gradientMode(GraphGradientMode.None)
    .stacking(new common.StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** One large figure. */
export function figure({ title, description, unit }: Heading): stat.PanelBuilder {
  return new stat.PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(PROMETHEUS)
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false));
}

/** Bars of states over time, a line for each series. */
export function timeline({ title, description, unit }: Heading): statetimeline.PanelBuilder {
  return new statetimeline.PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(PROMETHEUS)
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.8)
    .fillOpacity(85)
    .lineWidth(0)
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs([]),
    );
}

/** Levels at which a value changes its colour, lowest first; the first has no lower end. */
export function levels(...steps: readonly [number | null, string][]): ThresholdsConfigBuilder {
  const written: Threshold[] = steps.map(([value, color]) => ({ value, color }));
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(written);
}

/** Draws the levels as lines over the graph. */
export function levelLines(): common.GraphThresholdsStyleConfigBuilder {
  return new common.GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed);
}

export function byLevel(): FieldColorBuilder {
  return new FieldColorBuilder().mode(FieldColorModeId.Thresholds);
}

/** The colour of one series. */
export function fixed(colour: string): DynamicConfigValue {
  return { id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: colour } };
}

/** A series that is a bound: a dashed line without an area. */
export function dashed(colour: string): DynamicConfigValue[] {
  return [
    fixed(colour),
    { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } },
    { id: 'custom.fillOpacity', value: 0 },
  ];
}

/** A series with a unit of its own, on the right axis. */
export function rightAxis(unit: string): DynamicConfigValue[] {
  return [
    { id: 'unit', value: unit },
    { id: 'custom.axisPlacement', value: AxisPlacement.Right },
  ];
}

interface Colourable {
  overrideByName(name: string, properties: DynamicConfigValue[]): unknown;
}

/** Gives each series, by its name, the colour it has in every panel. */
export function coloured<P extends Colourable>(
  panel: P,
  colours: Readonly<Record<string, string>>,
): P {
  for (const [name, colour] of Object.entries(colours)) panel.overrideByName(name, [fixed(colour)]);
  return panel;
}
