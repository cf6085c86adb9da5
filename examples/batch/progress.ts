import type { GateKind, LimiterProgress, LimiterSnapshot } from 'headgate';
import { rateOf } from './report-limits.ts';

/** A terminal is rewritten so often, other outputs get a line so often. */
const LIVE_MS = 100;
const PLAIN_MS = 1_000;
/** From this many columns on there is room for words. */
const WIDE = 100;
const DEFAULT_COLUMNS = 80;
const CLEAR = '\r\x1b[K';

export interface ProgressState {
  readonly done: number;
  readonly prompts: number;
  /** Calls under way. */
  readonly active: number;
  readonly rejected: number;
  /** What the limiter said last of how far it has got. */
  readonly reported: Pick<LimiterProgress, 'remaining' | 'ratePerSecond'> | undefined;
  readonly gates: LimiterSnapshot;
}

/** What requests wait for, in words of one length or so. */
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

/** What progress needs of a stream. */
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
  // All that an attempt needs has one queue, by the name of what holds that back.
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

/** What 429s have made of the run: the rate that adapts and where that is from, or else the mode. */
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
 * By the rate of the last minute. The limiter's own `etaMs` goes by what requests take and how many
 * run just now: where both change from second to second, as here, it is out by several times as much.
 */
function eta({ reported }: ProgressState): string {
  const { remaining, ratePerSecond } = reported ?? {};
  if (remaining === undefined || !ratePerSecond) return '-';
  return `${Math.ceil(remaining / ratePerSecond)}s`;
}

/** Shows a run: one line that is rewritten on a terminal, a line a second elsewhere. */
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

  /** Writes a line that stays. */
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
    // A terminal that does not know its width says 0.
    const columns = this.#out.columns || DEFAULT_COLUMNS;
    const line = progressLine(this.#look(), isTTY ? columns : Number.POSITIVE_INFINITY);
    this.#out.write(isTTY ? `${CLEAR}${line}` : `${line}\n`);
  }

  #clear(): void {
    if (this.#out.isTTY) this.#out.write(CLEAR);
  }
}
