import type { GateKind, LimiterProgress, LimiterSnapshot } from 'headgate';
import { rateOf } from './report-limits.ts';

/** The intervals at which a terminal is rewritten, and at which other outputs get a line. */
const LIVE_MS = 100;
const PLAIN_MS = 1_000;
/** From this number of columns on, words fit. */
const WIDE = 100;
const DEFAULT_COLUMNS = 80;
const CLEAR = '\r\x1b[K';

export interface ProgressState {
  readonly done: number;
  readonly prompts: number;
  /** Calls in flight. */
  readonly active: number;
  readonly rejected: number;
  /** The limiter's last progress report. */
  readonly reported: Pick<LimiterProgress, 'remaining' | 'ratePerSecond'> | undefined;
  readonly gates: LimiterSnapshot;
}

/** Gates in words of about the same length. */
const WORDS: Readonly<Record<GateKind, string>> = {
  concurrency: 'slot',
  byteBudget: 'bytes',
  backoff: 'backoff',
  circuitBreaker: 'circuit',
  rateLimit: 'rate',
  costBudget: 'cost',
  pace: 'pace',
  retry: 'retry',
  paused: 'paused',
  shared: 'store',
};
const LONGEST_WORD = Math.max(...Object.values(WORDS).map((word) => word.length));

/** The parts of an output stream that progress needs. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** The state of a run in one line of less than `columns` characters. */
export function progressLine(state: ProgressState, columns: number): string {
  const { done, prompts, active, rejected, gates } = state;
  const { concurrency, byteBudget, backoff, binding } = gates;
  const cause = binding === undefined ? '' : WORDS[binding];
  // Requests wait in one queue, which is named after the binding limit.
  const attempt = backoff.waiting > 0 ? WORDS[backoff.waitsFor] : WORDS.backoff;
  const queues = [
    `slot ${pad(concurrency.waiting, 3)}`,
    `bytes ${pad(byteBudget.waiting, 2)}`,
    `${attempt.padStart(LONGEST_WORD)} ${pad(backoff.waiting, 2)}`,
  ];
  const line = [
    `${pad(done, String(prompts).length)}/${prompts}`,
    `in flight ${pad(active, 2)}`,
    `waiting ${pad(gates.waiting, 3)} for ${cause.padEnd(LONGEST_WORD)}`,
    ...(columns < WIDE ? [] : [queues.join(', ')]),
    paceOf(gates, columns >= WIDE),
    `429s ${pad(rejected, 2)}`,
    `ETA ${eta(state)}`,
  ].join('  ');
  return line.slice(0, Math.max(0, columns - 1));
}

/** The effect of 429s: the adaptive rate and its origin, or else the mode. */
function paceOf({ adaptive, mode }: LimiterSnapshot, isWide: boolean): string {
  const rate = rateOf(adaptive);
  const width = 'throttled'.length;
  if (!rate || rate.perSecond === null) return mode.padEnd(width);
  const source = rate.isOut ? 'outage' : rate.source;
  const perSecond = `${rate.perSecond.toFixed(1)}/s`;
  if (!isWide) return (rate.isOut ? source : perSecond).padStart(width);
  const ceiling = `ceiling ${rate.ceilingPerSecond?.toFixed(1) ?? '-'}`;
  return `${perSecond.padStart(width)} ${source.padEnd(7)}  ${ceiling.padEnd(13)}`;
}

function pad(count: number, width: number): string {
  return String(count).padStart(width);
}

/**
 * The ETA by the rate of the last minute. The limiter's `etaMs` uses the present durations and
 * concurrency, which change from second to second here, so that its error is several times as
 * large.
 */
function eta({ reported }: ProgressState): string {
  const { remaining, ratePerSecond } = reported ?? {};
  if (remaining === undefined || !ratePerSecond) return '-';
  return `${Math.ceil(remaining / ratePerSecond)}s`;
}

/** Shows a run: one line that is rewritten on a terminal, and a line each second elsewhere. */
export class Progress {
  readonly #out: ProgressOutput;
  readonly #look: () => ProgressState;
  readonly #timer: NodeJS.Timeout;

  constructor(out: ProgressOutput, look: () => ProgressState) {
    this.#out = out;
    this.#look = look;
    this.#timer = setInterval(() => this.#show(), out.isTTY ? LIVE_MS : PLAIN_MS);
    this.#timer.unref();
  }

  /** Writes a permanent line. */
  note(text: string): void {
    this.#clear();
    this.#out.write(`${text}\n`);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #show(): void {
    const { isTTY } = this.#out;
    // A terminal with unknown width reports 0.
    const columns = this.#out.columns || DEFAULT_COLUMNS;
    const line = progressLine(this.#look(), isTTY ? columns : Number.POSITIVE_INFINITY);
    this.#out.write(isTTY ? `${CLEAR}${line}` : `${line}\n`);
  }

  #clear(): void {
    if (this.#out.isTTY) this.#out.write(CLEAR);
  }
}
