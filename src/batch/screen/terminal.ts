import stringWidth from 'string-width';
import type { BatchProgress } from '../progress.ts';
import { frameOf, type ScreenTitle } from './frame.ts';
import { plainLine } from './status.ts';
import type { Style } from './text.ts';

const LIVE_MS = 120;
const PLAIN_MS = 5_000;
/**
 * The time between two frames is at least this multiple of the time that writing one took: the run
 * stands still until the terminal has taken it.
 */
const REST = 20;
const DEFAULT_COLUMNS = 80;
const CLEAR_REST_OF_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[0J';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

/** The part of a stream that a screen uses. */
export interface ScreenOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Shows a run while it goes on. */
export interface Screen {
  /** Stops the output. */
  close(): void;
}

export const NO_SCREEN: Screen = { close: () => {} };

/** Draws a frame again and again in the same place. */
export function openTerminal(
  out: ScreenOutput,
  look: () => BatchProgress,
  title: ScreenTitle,
  style: Style,
): Screen {
  let drawn: readonly string[] = [];
  const toTop = () => {
    const rows = rowsOf(drawn, out.columns || DEFAULT_COLUMNS);
    return rows === 0 ? '' : `\u001b[${rows}A\r`;
  };
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    const frame = frameOf(look(), title, out.columns || DEFAULT_COLUMNS, style, out.rows);
    // A frame that is higher than the terminal could not be erased.
    const lines = out.rows ? frame.slice(0, Math.max(1, out.rows - 1)) : frame;
    // Lines replace those of the last frame one by one: a terminal may show what it has of a write,
    // and a frame that was erased first would flicker.
    const text = lines.map((line) => `${line}${CLEAR_REST_OF_LINE}\n`).join('');
    const begin = performance.now();
    out.write(toTop() + text + CLEAR_BELOW);
    const restMs = REST * (performance.now() - begin);
    drawn = lines;
    timer = setTimeout(draw, Math.min(Math.max(restMs, LIVE_MS), PLAIN_MS));
    timer.unref();
  };
  out.write(HIDE_CURSOR);
  draw();
  return {
    close: () => {
      clearTimeout(timer);
      out.write(toTop() + CLEAR_BELOW + SHOW_CURSOR);
      drawn = [];
    },
  };
}

/** The rows that drawn lines take now: more if the terminal has become narrower. */
function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce(
    (rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / columns)),
    0,
  );
}

/** Prints a line every few seconds, for logs. */
export function openLog(out: ScreenOutput, look: () => BatchProgress): Screen {
  const timer = setInterval(() => out.write(`${plainLine(look())}\n`), PLAIN_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

/** Prints a JSON object on a line every few seconds, for programs. */
export function openJsonLog(out: ScreenOutput, look: () => BatchProgress): Screen {
  const write = () => out.write(`${JSON.stringify({ event: 'progress', ...look() })}\n`);
  const timer = setInterval(write, PLAIN_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
