import type {
  DynamicConfigValue,
  Panel,
  ThresholdsConfig,
  ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Series } from '../../../test/dashboards/programs.ts';

/** Grafana's classic palette, the colours of series without their own colour. */
const PALETTE = ['#73BF69', '#F2CC0C', '#8AB8FF', '#FF780A', '#F2495C', '#5794F2', '#B877D9'];

/** The look of one series, according to the panel's options. */
export interface Field {
  readonly name: string;
  readonly points: readonly (readonly [time: number, value: number])[];
  readonly colour: string;
  readonly unit: string | undefined;
  readonly isDashed: boolean;
  readonly isRight: boolean;
  readonly fillOpacity: number;
  readonly lineWidth: number;
}

/** The parts of a field's options that are drawn. */
export interface FieldOptions {
  readonly unit?: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly noValue?: string;
  readonly mappings?: readonly ValueMapping[];
  readonly thresholds?: ThresholdsConfig;
  readonly color?: { readonly mode: string; readonly fixedColor?: string };
  readonly custom?: {
    readonly fillOpacity?: number;
    readonly lineWidth?: number;
    readonly stacking?: { readonly mode?: string };
    readonly thresholdsStyle?: { readonly mode?: string };
  };
}

export function optionsOf({ fieldConfig }: Panel): FieldOptions {
  return (fieldConfig?.defaults ?? {}) as FieldOptions;
}

/** `{{label}}` is replaced by the label of the series. */
export function legendOf(format: string, metric: Series['metric']): string {
  return format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => metric[label] ?? '');
}

/** The properties of a series by overrides. Later rules take precedence. */
function overridesOf({ fieldConfig }: Panel, name: string): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const { matcher, properties } of fieldConfig?.overrides ?? []) {
    const pattern = String(matcher.options);
    const isMatch =
      matcher.id === 'byName'
        ? pattern === name
        : new RegExp(pattern.replace(/^\/|\/$/g, '')).test(name);
    if (!isMatch) continue;
    for (const { id, value } of properties as DynamicConfigValue[]) found.set(id, value);
  }
  return found;
}

/** Gives similar series lighter and darker shades of one colour. */
function shadeOf(colour: string, place: number): string {
  const factor = [1, 0.75, 1.25, 0.6, 1.4][place % 5] ?? 1;
  return colour.replace(/[0-9a-f]{2}/gi, (part) =>
    Math.min(255, Math.round(Number.parseInt(part, 16) * factor))
      .toString(16)
      .padStart(2, '0'),
  );
}

export function fieldOf(panel: Panel, name: string, series: Series, place: number): Field {
  const { custom = {}, unit, color } = optionsOf(panel);
  const own = overridesOf(panel, name);
  const chosen = (own.get('color') ?? color) as { mode?: string; fixedColor?: string } | undefined;
  const fixedColour =
    chosen?.mode === 'shades' ? shadeOf(chosen.fixedColor ?? '', place) : chosen?.fixedColor;
  return {
    name,
    points: series.values.map(([time, value]) => [time, Number(value)]),
    colour: fixedColour ?? PALETTE[place % PALETTE.length] ?? '#73BF69',
    unit: (own.get('unit') as string | undefined) ?? unit,
    isDashed: own.has('custom.lineStyle'),
    isRight: own.get('custom.axisPlacement') === 'right',
    fillOpacity: Number(own.get('custom.fillOpacity') ?? custom.fillOpacity ?? 0),
    lineWidth: custom.lineWidth ?? 1,
  };
}

/** The text and the colour of a value, if the panel maps it to a text. */
export function mapped(
  { mappings = [] }: FieldOptions,
  value: number | undefined,
): { readonly text?: string; readonly color?: string } | undefined {
  for (const { type, options } of mappings) {
    if (type === 'value' && value !== undefined) {
      const found = (options as Record<string, { text: string; color: string }>)[String(value)];
      if (found !== undefined) return found;
    }
    if (type === 'special' && (value === undefined || Number.isNaN(value))) {
      return (options as { result: { text: string; color: string } }).result;
    }
  }
  return undefined;
}

/** The colour of the level of a value. */
export function levelColour({ thresholds }: FieldOptions, value: number): string {
  let colour = '#CCCCDC';
  for (const step of thresholds?.steps ?? []) {
    if (step.value === null || value >= step.value) colour = step.color;
  }
  return colour;
}
