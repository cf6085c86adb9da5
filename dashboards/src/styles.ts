import * as common from '@grafana/grafana-foundation-sdk/common';
import { AxisPlacement, GraphThresholdsStyleMode } from '@grafana/grafana-foundation-sdk/common';
import {
  type DynamicConfigValue,
  FieldColorBuilder,
  FieldColorModeId,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { ERROR_COLOURS, OUTCOME_COLOURS, STATE } from './colours.ts';

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

/** Series that are alike: each has its own shade of one colour. */
function shadesOf(colour: string): DynamicConfigValue {
  return { id: 'color', value: { mode: FieldColorModeId.Shades, fixedColor: colour } };
}

interface Colourable {
  overrideByName(name: string, properties: DynamicConfigValue[]): unknown;
  overrideByRegexp(pattern: string, properties: DynamicConfigValue[]): unknown;
}

/** Gives each series, by its name, the colour it has in every panel. */
export function coloured<P extends Colourable>(
  panel: P,
  colours: Readonly<Record<string, string>>,
): P {
  for (const [name, colour] of Object.entries(colours)) panel.overrideByName(name, [fixed(colour)]);
  return panel;
}

/** Colours what attempts or requests ended with: no error is green. Later rules outweigh earlier. */
export function colouredByError<P extends Colourable>(panel: P): P {
  panel.overrideByRegexp('/./', [shadesOf(ERROR_COLOURS.noAnswer)]);
  panel.overrideByRegexp('/^4\\d\\d$/', [shadesOf(ERROR_COLOURS.wrongRequest)]);
  panel.overrideByRegexp('/^5\\d\\d$/', [shadesOf(ERROR_COLOURS.failingApi)]);
  return coloured(panel, { ok: OUTCOME_COLOURS.ok, 429: STATE.bad });
}

/** The same where each error has several series, such as its percentiles: `429 p95`. */
export function shadedByError<P extends Colourable>(panel: P): P {
  panel.overrideByRegexp('/./', [shadesOf(ERROR_COLOURS.noAnswer)]);
  panel.overrideByRegexp('/^4\\d\\d /', [shadesOf(ERROR_COLOURS.wrongRequest)]);
  panel.overrideByRegexp('/^5\\d\\d /', [shadesOf(ERROR_COLOURS.failingApi)]);
  panel.overrideByRegexp('/^ok /', [shadesOf(OUTCOME_COLOURS.ok)]);
  panel.overrideByRegexp('/^429 /', [shadesOf(STATE.bad)]);
  return panel;
}
