import cliTruncate from 'cli-truncate';
import { printable } from '../printable.ts';
import type { BatchReport } from '../progress.ts';
import { count, duration, money, percent, plural, rate, type Style, short, wrap } from './text.ts';

const LABEL_WIDTH = 10;
const ERRORS_SHOWN = 5;

/** The result of a run, in about ten lines. */
export function formatReport(report: BatchReport, columns: number, style: Style): string {
  const { errors, output, left, tornBytes, cost, inputTokens, outputTokens } = report;
  const rows: (readonly [string, string] | undefined)[] = [
    ['done', doneWords(report, style)],
    ['failed', failedWords(report, style)],
    ...errors.slice(0, ERRORS_SHOWN).map(({ kind, count: times, message }) => {
      return ['', `${count(times).padStart(6)}  ${kind}: ${style.faint(message)}`] as const;
    }),
    left === undefined || left === 0
      ? undefined
      : ['left', `${count(left)}: the same command goes on where it stopped`],
    ['time', timeWords(report)],
    ['429s', rejectedWords(report)],
    inputTokens + outputTokens === 0
      ? undefined
      : ['tokens', `${short(inputTokens)} in, ${short(outputTokens)} out`],
    cost && ['cost', `${money(cost.spent)} for all results in the file`],
    tornBytes > 0 ? ['mended', `half a line that an earlier run had left was cut off`] : undefined,
    ['results', style.strong(output)],
  ];
  const lines = rows
    .filter((row) => row !== undefined)
    .map(([label, value]) => `${style.faint(label.padEnd(LABEL_WIDTH))}${value}`)
    .map((line) => (Number.isFinite(columns) ? cliTruncate(line, columns) : line));
  return [...stopLines(report, columns, style), ...lines, ''].join('\n');
}

/** The reason for an early end, which is never shortened. */
function stopLines({ stop }: BatchReport, columns: number, style: Style): string[] {
  if (stop === undefined) return [];
  const why = stop.reason === 'interrupted' ? 'as asked' : printable(stop.message);
  const lines = why.split('\n').flatMap((line) => wrap(line, columns - LABEL_WIDTH));
  return lines.map((line, index) => {
    return style.faint((index === 0 ? 'stopped' : '').padEnd(LABEL_WIDTH)) + style.warn(line);
  });
}

function doneWords({ ok, doneBefore, cached, total }: BatchReport, style: Style): string {
  const all = ok + doneBefore;
  const whole = total === undefined ? '' : ` of ${count(total)}`;
  const before =
    doneBefore === 0 ? '' : style.faint(`, ${count(doneBefore)} of them in earlier runs`);
  const known = cached === 0 ? '' : style.faint(`, ${count(cached)} from the cache`);
  return `${style.good(count(all))}${whole}${before}${known}`;
}

function failedWords({ failed, failedBefore }: BatchReport, style: Style): string {
  const all = failed + failedBefore;
  if (all === 0) return '0';
  const before = failedBefore === 0 ? '' : `, ${count(failedBefore)} of them in earlier runs`;
  return `${style.bad(count(all))}${before}; --retry-failed sends them again`;
}

function timeWords({ elapsedMs, ok, failed }: BatchReport): string {
  const ended = ok + failed;
  const speed = elapsedMs === 0 || ended === 0 ? '' : `, ${rate(ended / (elapsedMs / 1_000))}`;
  return `${duration(elapsedMs)}${speed}`;
}

function rejectedWords({ rejected, attempts, retried }: BatchReport): string {
  const calls = plural(attempts, 'call');
  const share = rejected === 0 ? '' : ` (${percent(rejected, attempts)})`;
  const again =
    retried === 0
      ? ''
      : `; ${count(retried)} ${retried === 1 ? 'call was a repeat' : 'calls were repeats'}`;
  return `${count(rejected)} of ${calls}${share}${again}`;
}
