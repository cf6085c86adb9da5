import { levelColour, mapped, optionsOf } from './fields.ts';
import { type Drawn, legendLine, nothing } from './parts.ts';
import { drawSeries } from './series.ts';
import { type Box, INK, QUIET, rect, text } from './svg.ts';
import { inUnit } from './units.ts';

export function drawPanel(drawn: Drawn, box: Box): string {
  const frame = rect(box, '#181B1F', '#2C3235');
  const title = text(
    box.x + 10,
    box.y + 20,
    (drawn.panel.title ?? '').replace('$gate', 'all gates'),
    INK,
    13,
    'start',
    500,
  );
  const inner = { x: box.x + 10, y: box.y + 32, w: box.w - 20, h: box.h - 40 };
  return frame + title + contentOf(drawn, inner);
}

function contentOf(drawn: Drawn, box: Box): string {
  switch (drawn.panel.type) {
    case 'stat':
      return drawFigures(drawn, box);
    case 'state-timeline':
      return drawStates(drawn, box);
    case 'heatmap':
      return drawHeatMap(drawn, box);
    default:
      return drawSeries(drawn, box);
  }
}

function drawFigures({ panel, fields }: Drawn, box: Box): string {
  const options = optionsOf(panel);
  const { colorMode = 'value' } = (panel.options ?? {}) as { colorMode?: string };
  const shown = fields.length > 0 ? fields : [undefined];
  const width = box.w / shown.length;
  return shown
    .map((field, place) => {
      const value = field?.points.at(-1)?.[1];
      const word = mapped(options, value);
      const said =
        word?.text ??
        (value === undefined
          ? (options.noValue ?? 'No data')
          : inUnit(value, field?.unit, options.decimals));
      const level = value === undefined ? QUIET : levelColour(options, value);
      const colour = colorMode === 'none' ? INK : (word?.color ?? level);
      const cell = { x: box.x + place * width + 2, y: box.y, w: width - 4, h: box.h };
      const isFilled = colorMode === 'background';
      const size = Math.min(30, (cell.w - 8) / (said.length * 0.66), cell.h / 2);
      const middle = cell.x + cell.w / 2;
      const name = fields.length > 1 ? (field?.name ?? '') : '';
      return (
        (isFilled ? rect(cell, colour) : '') +
        (name === '' ? '' : text(middle, cell.y + 14, name, isFilled ? '#fff' : INK, 11)) +
        text(
          middle,
          cell.y + cell.h / 2 + 12,
          said,
          isFilled ? '#fff' : colour,
          size,
          'middle',
          600,
        )
      );
    })
    .join('');
}

function drawStates({ panel, fields, from, to }: Drawn, box: Box): string {
  const options = optionsOf(panel);
  if (fields.length === 0) return nothing(options.noValue, box);
  const left = Math.max(60, ...fields.map(({ name }) => name.length * 6.3 + 8));
  const height = (box.h - 44) / fields.length;
  const at = (time: number) => box.x + left + ((time - from) / (to - from)) * (box.w - left);
  const legend = new Map<string, string>();
  const rows = fields.map((field, row) => {
    const y = box.y + row * height;
    const bars: string[] = [];
    for (let first = 0; first < field.points.length; ) {
      const [start, value] = field.points[first] ?? [0, 0];
      let next = first + 1;
      while (field.points[next]?.[1] === value) next += 1;
      const end = field.points[next]?.[0] ?? to;
      const word = mapped(options, value);
      const colour = word?.color ?? field.colour;
      const name = word?.text ?? String(value);
      legend.set(name, colour);
      const bar = { x: at(start), y: y + height * 0.1, w: at(end) - at(start), h: height * 0.8 };
      bars.push(rect(bar, colour, undefined, 0.85));
      if (bar.w > name.length * 7) {
        bars.push(text(bar.x + bar.w / 2, y + height / 2 + 4, name, '#fff', 11));
      }
      first = next;
    }
    return text(box.x + left - 6, y + height / 2 + 4, field.name, INK, 11, 'end') + bars.join('');
  });
  return rows.join('') + legendLine([...legend], box);
}

function drawHeatMap({ panel, fields, from, to }: Drawn, box: Box): string {
  const sorted = fields
    .filter(({ name }) => name !== '+Inf')
    .toSorted((a, b) => Number(a.name) - Number(b.name));
  const cells = sorted.map(({ points }, row) => {
    const below = new Map(sorted[row - 1]?.points ?? []);
    return points.map(
      ([time, value]) => [time, Math.max(0, value - (below.get(time) ?? 0))] as const,
    );
  });
  const used = cells.flatMap((row, place) => (row.some(([, value]) => value > 0) ? [place] : []));
  const [low = 0] = used;
  const high = used.at(-1) ?? 0;
  if (used.length === 0) return nothing(optionsOf(panel).noValue, box);
  const most = Math.max(...cells.flat().map(([, value]) => value));
  const height = (box.h - 20) / (high - low + 1);
  // The interval between the values of a row, in seconds.
  const [first, second] = fields[0]?.points ?? [];
  const apart = (second?.[0] ?? 1) - (first?.[0] ?? 0);
  const width = ((box.w - 60) / (to - from + apart)) * apart;
  return cells
    .slice(low, high + 1)
    .map((row, place) => {
      const y = box.y + (high - low - place) * height;
      const label = text(
        box.x + 54,
        y + height / 2 + 4,
        inUnit(Number(sorted[place + low]?.name), 's'),
        QUIET,
        10,
        'end',
      );
      const drawn = row
        .filter(([, value]) => value > 0)
        .map(([time, value]) => {
          const hue = 240 - 240 * Math.sqrt(value / most);
          const x = box.x + 60 + ((time - from) / (to - from + apart)) * (box.w - 60);
          return rect({ x, y, w: width, h: height - 1 }, `hsl(${Math.round(hue)} 80% 50%)`);
        });
      return label + drawn.join('');
    })
    .join('');
}
