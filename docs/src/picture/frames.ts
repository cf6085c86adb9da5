import { type Line, Terminal } from './terminal.ts';

/** A piece of output with its time. */
export interface Output {
  readonly atMs: number;
  readonly text: string;
}

/** The terminal's content from a time on. */
export interface Frame {
  readonly atMs: number;
  readonly screen: readonly Line[];
}

/**
 * The screens of a run, with a least time between two of them. The last screen is always included.
 */
export function framesOf(
  outputs: readonly Output[],
  columns: number,
  apartMs: number,
): readonly Frame[] {
  const terminal = new Terminal(columns);
  const frames: Frame[] = [];
  for (const [index, { atMs, text }] of outputs.entries()) {
    terminal.write(text);
    const isLast = index === outputs.length - 1;
    const last = frames.at(-1);
    if (isLast || last === undefined || atMs - last.atMs >= apartMs) {
      frames.push({ atMs, screen: terminal.screen });
    }
  }
  return frames;
}
