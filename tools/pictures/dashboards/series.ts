import { type Field, type FieldOptions, optionsOf } from './fields.ts';
import { type Drawn, legendLine, nothing } from './parts.ts';
import { area, type Box, line, QUIET, rect, text } from './svg.ts';
import { inUnit } from './units.ts';

const AXIS = 58;
const LEGEND_LINE = 15;
/** The width of a legend beside the graph. */
const SIDE = 330;

interface Scale {
  readonly max: number;
  readonly unit: string | undefined;
}

/** Lines and areas over time, as the options of the panel say. */
export function drawSeries({ panel, fields, marks, from, to }: Drawn, box: Box): string {
  const options = optionsOf(panel);
  if (fields.length === 0) return nothing(options.noValue, box);
  const isStacked = options.custom?.stacking?.mode === 'normal';
  const isBeside = legendOf(panel).placement === 'right';
  const entries = fields.map((field) => [entryOf(panel, field, options), field.colour] as const);
  const lines = isBeside ? 0 : linesOf(entries, box.w);
  const left = fields.some(({ isRight }) => !isRight);
  const right = fields.some(({ isRight }) => isRight);
  const plot = {
    x: box.x + AXIS,
    y: box.y + 4,
    w: box.w - AXIS - (right ? AXIS : 8) - (isBeside ? SIDE : 0),
    h: box.h - 24 - lines * LEGEND_LINE,
  };
  const at = (time: number) => plot.x + ((time - from) / (to - from)) * plot.w;
  const scales = [false, true].map((isRight) => scaleOf(fields, isRight, isStacked, options));
  const drawn = [
    ...(left ? [axis(scales[0], plot, false)] : []),
    ...(right ? [axis(scales[1], plot, true)] : []),
    times(from, to, plot),
    ...marks.map(({ time, colour }) =>
      rect({ x: at(time), y: plot.y, w: 1.5, h: plot.h }, colour, undefined, 0.35),
    ),
  ];
  let below = new Map<number, number>();
  for (const field of fields) {
    const max = scales[field.isRight ? 1 : 0]?.max ?? 1;
    const y = (value: number) => plot.y + plot.h * (1 - Math.min(1, value / max));
    const base = isStacked ? below : new Map<number, number>();
    for (const run of runsOf(field)) {
      const top = run.map(([time, value]) => [at(time), y(value + (base.get(time) ?? 0))] as const);
      const foot = run.map(([time]) => [at(time), y(base.get(time) ?? 0)] as const).toReversed();
      if (field.fillOpacity > 0)
        drawn.push(area([...top, ...foot], field.colour, field.fillOpacity / 100));
      if (field.lineWidth > 0)
        drawn.push(line(top, field.colour, field.lineWidth * 0.8, field.isDashed ? '8 6' : ''));
    }
    if (isStacked) {
      below = new Map(field.points.map(([time, value]) => [time, value + (below.get(time) ?? 0)]));
    }
  }
  drawn.push(levelLines(options, scales[0]?.max ?? 1, plot));
  const place = isBeside
    ? entries.map(([said, colour], row) =>
        legendLine([[said, colour]], {
          x: box.x + box.w - SIDE + 12,
          y: box.y + row * 16,
          w: SIDE,
          h: 30,
        }),
      )
    : [legendLine(entries, { ...box, h: box.h - (lines - 1) * LEGEND_LINE + 12 })];
  return [...drawn, ...place].join('');
}

function legendOf({ options }: Drawn['panel']): { placement?: string; calcs?: readonly string[] } {
  return (
    (options as { legend?: { placement?: string; calcs?: string[] } } | undefined)?.legend ?? {}
  );
}

/** The name of a series with the calculations of its legend. */
function entryOf(
  panel: Drawn['panel'],
  { name, points, unit }: Field,
  { decimals }: FieldOptions,
): string {
  const values = points.map(([, value]) => value).filter(Number.isFinite);
  const said = (legendOf(panel).calcs ?? []).map((calc) =>
    calc === 'max'
      ? `Max: ${inUnit(Math.max(...values), unit, decimals)}`
      : `Last: ${inUnit(values.at(-1) ?? 0, unit, decimals)}`,
  );
  return [name, ...said].join('  ');
}

function linesOf(entries: readonly (readonly [string, string])[], width: number): number {
  let lines = 1;
  let x = 0;
  for (const [name] of entries) {
    const w = name.length * 6.3 + 26;
    if (x + w > width && x > 0) {
      lines += 1;
      x = 0;
    }
    x += w;
  }
  return lines;
}

/** The parts of a series between gaps. */
function runsOf({ points }: Field): (readonly [number, number])[][] {
  const step = Math.min(...points.slice(1).map(([time], at) => time - (points[at]?.[0] ?? 0)));
  const runs: (readonly [number, number])[][] = [];
  for (const point of points) {
    const last = runs.at(-1)?.at(-1);
    if (last === undefined || point[0] - last[0] > step * 1.5) runs.push([point]);
    else runs.at(-1)?.push(point);
  }
  return runs;
}

function scaleOf(
  fields: readonly Field[],
  isRight: boolean,
  isStacked: boolean,
  options: FieldOptions,
): Scale {
  const own = fields.filter((field) => field.isRight === isRight);
  const sums = new Map<number, number>();
  let highest = 0;
  for (const [time, value] of own.flatMap(({ points }) => points)) {
    const sum = isStacked ? (sums.get(time) ?? 0) + value : value;
    sums.set(time, sum);
    highest = Math.max(highest, sum);
  }
  return { max: options.max ?? (highest === 0 ? 1 : highest * 1.05), unit: own[0]?.unit };
}

function axis(scale: Scale | undefined, plot: Box, isRight: boolean): string {
  if (scale === undefined) return '';
  const step = stepOf(scale.max);
  const drawn: string[] = [];
  for (let value = 0; value <= scale.max; value += step) {
    const y = plot.y + plot.h * (1 - value / scale.max);
    if (!isRight) drawn.push(rect({ x: plot.x, y, w: plot.w, h: 0.7 }, '#2C3235'));
    const x = isRight ? plot.x + plot.w + 6 : plot.x - 6;
    drawn.push(text(x, y + 4, inUnit(value, scale.unit), QUIET, 10, isRight ? 'start' : 'end'));
  }
  return drawn.join('');
}

function stepOf(max: number): number {
  const power = 10 ** Math.floor(Math.log10(max / 3));
  return power * ([1, 2, 5, 10].find((factor) => max / (factor * power) <= 4) ?? 10);
}

function times(from: number, to: number, plot: Box): string {
  return [0.1, 0.5, 0.9]
    .map((part) => {
      const said = new Date((from + (to - from) * part) * 1_000).toISOString().slice(11, 19);
      return text(plot.x + plot.w * part, plot.y + plot.h + 14, said, QUIET, 10);
    })
    .join('');
}

function levelLines({ custom, thresholds }: FieldOptions, max: number, plot: Box): string {
  const mode = custom?.thresholdsStyle?.mode ?? 'off';
  if (mode === 'off') return '';
  return (thresholds?.steps ?? [])
    .filter(({ value }) => value !== null && value <= max)
    .map(({ value, color }) => {
      const y = plot.y + plot.h * (1 - (value ?? 0) / max);
      return line(
        [
          [plot.x, y],
          [plot.x + plot.w, y],
        ],
        color === 'transparent' ? 'none' : color,
        1,
        '6 4',
      );
    })
    .join('');
}
