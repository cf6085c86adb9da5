import { GATE_KINDS } from '../../src/model/outcome.ts';

const CHOSEN = {
  retry: '#FF85C0',
  concurrency: '#5794F2',
  byteBudget: '#B877D9',
  pace: '#33B5A9',
  rateLimit: '#FADE2A',
  costBudget: '#8AB8FF',
  backoff: '#FF9830',
  circuitBreaker: '#F2495C',
  shared: '#C7A17A',
  paused: '#A7AEBB',
} as const;

/** Of gates that none was chosen for. */
const SPARE = ['#6BB6C9', '#D683CE', '#9DBB61'];

/** Gates in the order in which requests pass them, each with the colour it has in every panel. */
export const GATE_COLOURS: Readonly<Record<string, string>> = {
  ...CHOSEN,
  ...Object.fromEntries(
    GATE_KINDS.filter((kind) => !(kind in CHOSEN)).map((kind, index) => [
      kind,
      SPARE[index] ?? '#888888',
    ]),
  ),
};

export const OUTCOME_COLOURS = {
  ok: '#73BF69',
  failed: '#C4162A',
  rejected: '#E0B400',
  cancelled: '#8E8E8E',
  reclaimed: '#705DA0',
} as const;

/** States, from good to bad; `idle` is neither. */
export const STATE = {
  good: '#56A64B',
  fair: '#E5AC0E',
  bad: '#E02F44',
  idle: '#6E7687',
} as const;

/** What attempts end with that is not 429: errors of a kind have shades of one colour. */
export const ERROR_COLOURS = {
  wrongRequest: '#A352CC',
  failingApi: '#FA6400',
  noAnswer: '#8F6B4A',
} as const;

/** A limit, and what is used of it. */
export const LIMIT_COLOUR = '#9FA7B3';
export const USAGE_COLOUR = '#3274D9';

/** Percentiles, from light to dark. */
export const QUANTILE_COLOURS = { p50: '#96D98D', p95: '#F2CC0C', p99: '#FA6400' } as const;
