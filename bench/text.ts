/** Formats figures and tables as text. */
import { availableParallelism, cpus } from 'node:os';
import { isClientName } from './clients/index.ts';
import { isGateName } from './gates.ts';
import type { Name } from './jobs.ts';
import { isWatchName } from './watching.ts';

/**
 * Prints rows of equal length below a heading; the first column is text.
 * @param others the alignment of the other columns: `right` for figures (default)
 */
export function printTable(rows: readonly string[][], others: 'left' | 'right' = 'right'): void {
  if (rows.length === 1) {
    return;
  }
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row.map((cell, column) => {
      const width = widths?.[column] ?? 0;
      return column === 0 || others === 'left' ? cell.padEnd(width) : cell.padStart(width);
    }),
  );
  console.log(`\n${lines.map((cells) => cells.join('  ').trimEnd()).join('\n')}`);
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function ratioText(ratio: number | null): string {
  return ratio === null ? '-' : ratio.toFixed(2);
}

export function differenceText(difference: number | null): string {
  if (difference === null) return '-';
  return difference < 0 ? whole(difference) : `+${whole(difference)}`;
}

export function unitOf(name: Name): string {
  if (isClientName(name)) {
    return 'tasks/s';
  }
  if (name.startsWith('waiting')) return 'bytes a request';
  const isRequest =
    isGateName(name) || isWatchName(name) || /^(per-request|keys|http)-|^bare-records$/.test(name);
  if (name === 'bare-span') return 'ns a span';
  return isRequest ? 'ns a request' : 'ns an operation';
}

export function processor(): string {
  return `${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} cores`;
}
