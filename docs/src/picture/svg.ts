import type { Frame } from './frames.ts';
import type { Line, Look } from './terminal.ts';

const FONT_PX = 13;
const CHARACTER_PX = 7.83;
const LINE_PX = 18;
const MARGIN_PX = 16;
const BAR_PX = 28;
/** The speed of the picture compared with the run, and how long the end is shown. */
const SPEED = 2.5;
const END_MS = 8_000;

const FILLS: Readonly<Record<Look, string>> = {
  plain: '#d6deeb',
  strong: '#ffffff',
  faint: '#8796ad',
  good: '#7fd88f',
  warn: '#f2c14e',
  bad: '#ff8a80',
  accent: '#7cc7ff',
};

/**
 * Draws a run in a terminal as an animated picture. A line that does not change is drawn once. A
 * viewer without animation shows only the end.
 */
export function svgOf(frames: readonly Frame[], columns: number): string {
  const rows = Math.max(...frames.map(({ screen }) => screen.length));
  const width = Math.ceil(2 * MARGIN_PX + columns * CHARACTER_PX);
  const height = BAR_PX + 2 * MARGIN_PX + rows * LINE_PX;
  const endMs = (frames.at(-1)?.atMs ?? 0) / SPEED;
  const totalMs = endMs + END_MS;
  const pieces = piecesOf(frames).map(({ row, line, fromMs, toMs }) => {
    const isLast = toMs === undefined;
    const text = `<text x="${MARGIN_PX}" y="${BAR_PX + MARGIN_PX + (row + 0.75) * LINE_PX}">${spans(line)}</text>`;
    const from = fromMs / SPEED / totalMs;
    const to = isLast ? 1 : toMs / SPEED / totalMs;
    if (from === 0 && isLast) return text;
    return `<g visibility="${isLast ? 'visible' : 'hidden'}">${text}${shown(from, to, totalMs)}</g>`;
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="npm start in a terminal">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#111a2b"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, index) =>
        `<circle cx="${20 + 20 * index}" cy="${BAR_PX / 2 + 3}" r="6" fill="${fill}"/>`,
    ),
    `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="${FONT_PX}" fill="${FILLS.plain}" xml:space="preserve" style="white-space:pre">`,
    ...pieces,
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
}

/** A line at one position, from one frame until the frame in which it changes. */
interface Piece {
  readonly row: number;
  readonly line: Line;
  readonly fromMs: number;
  /** The time at which the line changes; undefined: it is visible at the end. */
  readonly toMs: number | undefined;
}

function piecesOf(frames: readonly Frame[]): readonly Piece[] {
  const pieces: Piece[] = [];
  const rows = Math.max(...frames.map(({ screen }) => screen.length));
  for (let row = 0; row < rows; row += 1) {
    let since: { readonly line: Line; readonly fromMs: number } | undefined;
    for (const { atMs, screen } of frames) {
      const line = screen[row] ?? [];
      if (since !== undefined && textOf(since.line) === textOf(line)) continue;
      if (since !== undefined) pieces.push({ row, ...since, toMs: atMs });
      since = line.length > 0 ? { line, fromMs: atMs } : undefined;
    }
    if (since !== undefined) pieces.push({ row, ...since, toMs: undefined });
  }
  return pieces;
}

function textOf(line: Line): string {
  return line.map(({ text, look }) => `${look}:${text}`).join('');
}

/** An animation that shows a line during a part of each cycle. */
function shown(from: number, to: number, totalMs: number): string {
  const times = from === 0 ? [0, to] : [0, from, to];
  const values = from === 0 ? ['visible', 'hidden'] : ['hidden', 'visible', 'hidden'];
  const isToEnd = to === 1;
  const keyTimes = (isToEnd ? times.slice(0, -1) : times).map((time) => Number(time.toFixed(4)));
  return (
    `<animate attributeName="visibility" calcMode="discrete" repeatCount="indefinite" ` +
    `dur="${(totalMs / 1_000).toFixed(1)}s" keyTimes="${keyTimes.join(';')}" ` +
    `values="${(isToEnd ? values.slice(0, -1) : values).join(';')}"/>`
  );
}

function spans(line: Line): string {
  return line
    .map(({ text, look }) =>
      look === 'plain' ? escaped(text) : `<tspan fill="${FILLS[look]}">${escaped(text)}</tspan>`,
    )
    .join('');
}

/** Replaces spaces that a browser would collapse by no-break spaces. */
function escaped(text: string): string {
  return text
    .replaceAll(/ {2,}|^ | $/g, (spaces) => '\u00a0'.repeat(spaces.length))
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
