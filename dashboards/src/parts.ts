import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphGradientMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
} from '@grafana/grafana-foundation-sdk/common';
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  type Panel,
  SpecialValueMatch,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { chosen } from './chosen.ts';
import { STATE } from './colours.ts';

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
        .sort(SortOrder.Descending)
        .hideZeros(true),
    );
}

/** A legend beside the graph, for a wide panel whose series have long names. */
export function sideLegend(): common.VizLegendOptionsBuilder {
  return new common.VizLegendOptionsBuilder()
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Right)
    .showLegend(true)
    .calcs(['lastNotNull', 'max']);
}

/**
 * Areas on top of each other: parts of a whole. They have no outlines: that of a series at 0 would
 * lie on the series below it.
 */
export function stacked(heading: Heading): timeseries.PanelBuilder {
  return timeSeries(heading)
    .fillOpacity(70)
    .lineWidth(0)
    .gradientMode(GraphGradientMode.None)
    .stacking(new common.StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/**
 * One large figure.
 *
 * @param nothing what it says, in a colour that is neither good nor bad, where there is no value
 * @param words what it says instead of a number
 */
export function figure(
  { title, description, unit }: Heading,
  nothing: string,
  words: readonly ValueMapping[] = [],
): stat.PanelBuilder {
  return new stat.PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(PROMETHEUS)
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None)
    .noValue(nothing)
    .mappings([...words, whereNothing(nothing)])
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false));
}

/** Without it a missing value has the colour of the lowest level. */
function whereNothing(text: string): ValueMapping {
  const result = { text, color: STATE.idle };
  return {
    type: MappingType.SpecialValue,
    options: { match: SpecialValueMatch.NullAndNan, result },
  };
}

/** Bars of states over time, a line for each series. */
export function timeline({ title, description, unit }: Heading): statetimeline.PanelBuilder {
  return (
    new statetimeline.PanelBuilder()
      .title(title)
      .description(description)
      .unit(unit)
      .datasource(PROMETHEUS)
      .mergeValues(true)
      .showValue(VisibilityMode.Auto)
      .rowHeight(0.8)
      .fillOpacity(85)
      .lineWidth(0)
      // Colours by level would outweigh those that the words of a state have.
      .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic))
      .legend(
        new common.VizLegendOptionsBuilder()
          .displayMode(LegendDisplayMode.List)
          .placement(LegendPlacement.Bottom)
          .showLegend(true)
          .calcs([]),
      )
  );
}
