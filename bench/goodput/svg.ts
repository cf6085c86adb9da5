/** Draws the table: each cell is a bar as long as its goodput, coloured by its rejections. */
import type { Cell, Cells } from './cells.ts';
import type { ClientName } from './clients/index.ts';
import { goodputText, rejectedText } from './report.ts';

const CELL = { width: 66, height: 36, gap: 3 };
const LABEL_WIDTH = 168;
const MARGIN = 24;
const TOP = 104;
const FONT = 'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"';

/** Upper bounds of rejections for each 1000 successes, with the colours of their bars. */
const CLASSES = [
  { most: 5, fill: '#55b894', text: 'up to 5' },
  { most: 20, fill: '#a9d9b5', text: 'up to 20' },
  { most: 100, fill: '#f2d98d', text: 'up to 100' },
  { most: 1000, fill: '#f0a868', text: 'up to 1,000' },
  { most: Number.POSITIVE_INFINITY, fill: '#e68a7c', text: 'more' },
] as const;

export function chart(
  scenarios: readonly string[],
  clients: readonly ClientName[],
  cells: Cells,
): string {
  const width = 2 * MARGIN + LABEL_WIDTH + scenarios.length * (CELL.width + CELL.gap);
  const height = TOP + clients.length * (CELL.height + CELL.gap) + MARGIN;
  const columns = scenarios.map((name, column) =>
    text(left(column) + CELL.width / 2, TOP - 10, name, 'font-size="11.5" text-anchor="middle"'),
  );
  const rows = clients.flatMap((client, row) => [
    text(
      MARGIN + LABEL_WIDTH - 10,
      top(row) + CELL.height / 2 + 4,
      client,
      `font-size="13" text-anchor="end"${client.startsWith('headgate') ? ' font-weight="700"' : ''}`,
    ),
    ...scenarios.map((name, column) => drawCell(left(column), top(row), cells[name]?.[client])),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${FONT} fill="#1d2733">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(
      MARGIN,
      32,
      'Goodput and rejections, by client and scenario',
      'font-size="18" font-weight="700"',
    ),
    text(
      MARGIN,
      54,
      'Bar and first figure: goodput in % of what the provider allowed. Second figure and colour: 429s and 503s for each 1000 successes.',
      'font-size="12" fill="#5a6675"',
    ),
    ...legend(width),
    ...columns,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

function left(column: number): number {
  return MARGIN + LABEL_WIDTH + column * (CELL.width + CELL.gap);
}

function top(row: number): number {
  return TOP + row * (CELL.height + CELL.gap);
}

function drawCell(x: number, y: number, cell: Cell | undefined): string {
  const back = `<rect x="${x}" y="${y}" width="${CELL.width}" height="${CELL.height}" rx="4" fill="#eef1f4"/>`;
  if (cell === undefined) return back;
  const share = Math.min(1, Math.max(0, cell.goodput / 100));
  const fill = CLASSES.find(({ most }) => cell.rejectedPerMille <= most)?.fill;
  const middle = x + CELL.width / 2;
  return [
    back,
    `<rect x="${x}" y="${y}" width="${(share * CELL.width).toFixed(1)}" height="${CELL.height}" rx="4" fill="${fill}"/>`,
    text(
      middle,
      y + 16,
      goodputText(cell),
      'font-size="13" font-weight="600" text-anchor="middle"',
    ),
    text(middle, y + 30, rejectedText(cell), 'font-size="11" text-anchor="middle"'),
  ].join('');
}

function legend(width: number): string[] {
  const step = 100;
  const from = width - MARGIN - CLASSES.length * step;
  return CLASSES.flatMap(({ fill, text: label }, index) => [
    `<rect x="${from + index * step}" y="20" width="14" height="14" rx="3" fill="${fill}"/>`,
    text(from + index * step + 20, 32, label, 'font-size="12"'),
  ]);
}

function text(x: number, y: number, content: string, attributes: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped}</text>`;
}
