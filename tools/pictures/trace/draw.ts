import { duration } from '../../../src/inspector/format.ts';
import { INK, picture, QUIET, rect, text } from '../dashboards/svg.ts';
import type { TracedSpan } from './run.ts';

const WIDTH = 1_200;
const NAMES = 300;
const RIGHT = 24;
const TOP = 84;
const ROW = 46;
const BAR = 18;
const MOST_TICKS = 6;
/** The colours of spans: waits by their gate, attempts by their result. */
const COLOURS = { request: '#8AB8FF', wait: '#F2CC0C', ok: '#56A64B', bad: '#FF7383' };

/** A trace as a waterfall: names at the left, bars over time at the right. */
export function drawTrace(spans: readonly TracedSpan[]): string {
  const startMs = Math.min(...spans.map((span) => span.startMs));
  const lengthMs = Math.max(...spans.map((span) => span.endMs)) - startMs;
  const scale = (WIDTH - NAMES - RIGHT) / lengthMs;
  const height = TOP + spans.length * ROW + 16;
  const xOf = (ms: number) => NAMES + (ms - startMs) * scale;
  const head =
    text(RIGHT, 34, `one request, ${duration(lengthMs)}`, INK, 20, 'start', 600) +
    text(WIDTH - RIGHT, 34, `${spans.length} spans`, QUIET, 15, 'end');
  const step = stepOf(lengthMs);
  const ticks = Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, place) => {
    const x = xOf(startMs + place * step);
    return (
      rect({ x, y: TOP - 14, w: 1, h: height - TOP }, '#2C3235') +
      text(x, TOP - 22, duration(place * step), QUIET, 13, place === 0 ? 'start' : 'middle')
    );
  });
  const rows = spans.map((span, place) => drawSpan(span, TOP + place * ROW, depthOf(span, spans)));
  return picture('The trace of one request', WIDTH, height, [head, ...ticks, ...rows].join(''));

  function drawSpan(span: TracedSpan, y: number, depth: number): string {
    const x = xOf(span.startMs);
    const w = Math.max(3, (span.endMs - span.startMs) * scale);
    const words = `${duration(span.endMs - span.startMs)}${saidOf(span)}`;
    const isRoom = x + w + words.length * 7 < WIDTH - RIGHT;
    return (
      text(RIGHT + depth * 22, y + 15, span.name, INK, 15, 'start') +
      rect({ x, y: y + 2, w, h: BAR }, colourOf(span)) +
      (isRoom
        ? text(x + w + 8, y + 16, words, QUIET, 13, 'start')
        : text(x + w, y + 36, words, QUIET, 13, 'end'))
    );
  }
}

/** Milliseconds between two ticks: 1, 2 or 5 times a power of ten. */
function stepOf(lengthMs: number): number {
  const power = 10 ** Math.floor(Math.log10(lengthMs / MOST_TICKS));
  return power * ([1, 2, 5].find((factor) => lengthMs / (factor * power) <= MOST_TICKS) ?? 10);
}

function depthOf({ parentId }: TracedSpan, spans: readonly TracedSpan[]): number {
  const parent = spans.find(({ id }) => id === parentId);
  return parent === undefined ? 0 : depthOf(parent, spans) + 1;
}

function colourOf({ name, attributes }: TracedSpan): string {
  if (name.startsWith('headgate.wait')) return COLOURS.wait;
  if (!name.startsWith('headgate.attempt')) return COLOURS.request;
  return attributes['error.type'] === undefined ? COLOURS.ok : COLOURS.bad;
}

/** The text after a span's name. */
function saidOf({ attributes, links }: TracedSpan): string {
  const said = [
    attributes['headgate.gate'],
    attributes['http.response.status_code'],
    attributes['headgate.outcome'],
    attributes['error.type'] !== undefined && attributes['http.response.status_code'] === undefined
      ? attributes['error.type']
      : undefined,
    links.length > 0 ? 'links to the 429 that caused it' : undefined,
  ].filter((word) => word !== undefined);
  return said.length === 0 ? '' : `: ${said.join(', ')}`;
}
