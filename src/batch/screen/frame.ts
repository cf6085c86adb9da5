import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';
import type { BatchPhase, BatchProgress } from '../progress.ts';
import { statusOf } from './status.ts';
import { count, duration, money, percent, rate, type Style, short, wrap } from './text.ts';

/** A terminal of this width has room for two columns of figures. */
const WIDE = 76;
const MAX_WIDTH = 110;
const LABEL_WIDTH = 10;
/** Aligns lines with the text beside a label. */
const INDENT = ' '.repeat(LABEL_WIDTH);
const ERRORS_SHOWN = 3;
/** Eighths of a cell. */
const PARTIAL = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** What the user can do now. */
const HINTS: Readonly<Record<BatchPhase, string>> = {
  starting: 'Ctrl-C stops.',
  running: 'Ctrl-C stops and keeps what is done; the same command goes on.',
  draining: 'What is done is kept; the same command goes on where it stopped.',
  ended: '',
};

/** The title of a screen. */
export interface ScreenTitle {
  readonly input: string;
  readonly output: string;
  /** Where requests are sent, such as `gpt-5-mini at api.openai.com`. */
  readonly target: string;
}

/**
 * The state of a run as lines, none longer than the terminal is wide. Where it has few rows, what
 * matters most comes first, because the terminal cuts off the end.
 */
export function frameOf(
  progress: BatchProgress,
  title: ScreenTitle,
  columns: number,
  style: Style,
  rows = Number.POSITIVE_INFINITY,
): string[] {
  // A line as wide as the terminal would put the cursor on the next one.
  const width = Math.min(columns - 1, MAX_WIDTH);
  const { mood, text } = statusOf(progress);
  const painted = { calm: style.good, held: style.warn, trouble: style.bad }[mood];
  const [bar, numbers] =
    progress.phase === 'starting'
      ? [[], []]
      : [[barLine(progress, width, style)], figures(progress, width, style)];
  const status = [...wrap(text, width).map(painted), ...errorLines(progress, style)];
  const whole = [
    ...titleLines(title, width, style),
    style.faint(INDENT + title.target),
    '',
    ...bar.flatMap((line) => [line, '', ...numbers, '']),
    ...status,
    '',
    ...wrap(HINTS[progress.phase], width).map(style.faint),
  ];
  const short = [...bar, ...status, ...numbers].filter((line) => line !== '');
  const lines = whole.length < rows ? whole : short;
  return lines.map((line) => cliTruncate(line, width));
}

/** The names of the files, on one line if they fit, else on a line each. */
function titleLines({ input, output }: ScreenTitle, width: number, style: Style): string[] {
  const start = `${style.strong('headgate')}  ${input}`;
  const arrow = style.faint('→');
  const isShort = stringWidth(`${INDENT}${input} → ${output}`) <= width;
  return isShort
    ? [`${start} ${arrow} ${output}`]
    : [start, `${INDENT.slice(2)}${arrow} ${output}`];
}

function barLine(progress: BatchProgress, width: number, style: Style): string {
  const { total, doneBefore, failedBefore, ok, failed } = progress;
  const done = doneBefore + failedBefore + ok + failed;
  if (total === undefined) return `${style.strong(count(done))} done`;
  const text = `${percent(done, total)}  ${count(done)} of ${count(total)}`;
  // The bar must not change its length when the count gets longer.
  const longest = `99.9 %  ${count(total)} of ${count(total)}`.length;
  const room = Math.max(10, width - longest - 2);
  const cells = total === 0 ? 0 : (done / total) * room;
  const full = Math.floor(cells);
  const partial = PARTIAL[Math.floor((cells - full) * PARTIAL.length)] ?? '';
  const empty = room - full - (partial === '' ? 0 : 1);
  const bar = style.accent('█'.repeat(full) + partial) + style.faint('░'.repeat(empty));
  return `${bar}  ${style.strong(text.padStart(longest))}`;
}

const SOURCES = { limit: 'set', headers: 'told', learned: 'learned', start: 'start' };

type Figure = readonly [label: string, value: string];

function figures(progress: BatchProgress, width: number, style: Style): string[] {
  const all = [...workFigures(progress, style), ...moneyFigures(progress)];
  const cell = ([label, value]: Figure) => style.faint(label.padEnd(LABEL_WIDTH)) + value;
  if (width + 1 < WIDE) return all.map(cell);
  const half = Math.floor(width / 2);
  const rows = Math.ceil(all.length / 2);
  return all.slice(0, rows).map((left, row) => {
    const right = all[row + rows];
    if (right === undefined) return cell(left);
    return pad(cliTruncate(cell(left), half - 2), half) + cell(right);
  });
}

function workFigures(progress: BatchProgress, style: Style): Figure[] {
  const { ok, doneBefore, failed, failedBefore, inFlight, pace, rejected, attempts } = progress;
  const { workers } = progress;
  const before = doneBefore === 0 ? '' : style.faint(` and ${count(doneBefore)} before`);
  const failures = failed + failedBefore;
  const share = attempts === 0 ? '' : style.faint(` of ${count(attempts)} calls`);
  const queued = workers === undefined ? '' : `, ${count(workers.queued)} in the queue`;
  const beside = pace === undefined ? queued : ` of ${count(pace.limit)}`;
  return [
    ['done', style.good(count(ok)) + before],
    ['failed', failures === 0 ? '0' : style.bad(count(failures))],
    ['speed', speedOf(progress, style)],
    ['left', etaOf(progress)],
    ['in flight', count(inFlight) + style.faint(beside)],
    ['429s', (rejected === 0 ? '0' : style.warn(count(rejected))) + share],
  ];
}

function speedOf({ ratePerSecond, pace }: BatchProgress, style: Style): string {
  const now = ratePerSecond === undefined ? '-' : rate(ratePerSecond);
  if (pace?.perSecond === undefined) return now;
  const source = SOURCES[pace.source ?? 'start'];
  return now + style.faint(` (${source} ${rate(pace.perSecond)})`);
}

function etaOf({ etaMs, downForMs, phase }: BatchProgress): string {
  if (etaMs === undefined || downForMs > 0 || phase !== 'running') return '-';
  return `about ${duration(etaMs)}`;
}

function moneyFigures({ inputTokens, outputTokens, cost }: BatchProgress): Figure[] {
  const tokens: Figure = ['tokens', `${short(inputTokens)} in, ${short(outputTokens)} out`];
  if (cost === undefined) return [tokens];
  const forecast = cost.forecast === undefined ? '' : `, about ${money(cost.forecast)} in all`;
  const spent: Figure = ['cost', money(cost.spent) + forecast];
  return cost.max === undefined ? [tokens, spent] : [tokens, spent, ['budget', money(cost.max)]];
}

function errorLines({ errors }: BatchProgress, style: Style): string[] {
  if (errors.length === 0) return [];
  const shown = errors.slice(0, ERRORS_SHOWN).map(({ kind, count: times, message }) => {
    return `${style.bad(count(times).padStart(7))}  ${kind}  ${style.faint(message)}`;
  });
  const more = errors.length - shown.length;
  const rest = more > 0 ? [style.faint(`${' '.repeat(9)}and ${more} other kinds`)] : [];
  return ['', style.faint('errors'), ...shown, ...rest];
}

/** Fills up with spaces. */
function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}
