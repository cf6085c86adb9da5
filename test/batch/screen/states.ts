import type { BatchProgress } from '../../../src/batch/index.ts';

const RUNNING: BatchProgress = {
  phase: 'running',
  elapsedMs: 5_230_000,
  checked: 100_000,
  total: 100_000,
  doneBefore: 312,
  failedBefore: 0,
  ok: 42_769,
  cached: 0,
  failed: 39,
  inFlight: 37,
  waiting: 475,
  attempts: 42_861,
  rejected: 12,
  retried: 53,
  ratePerSecond: 8.21,
  etaMs: 6_870_000,
  pace: {
    perSecond: 8.33,
    source: 'headers',
    heldBy: "the provider's 500 requests/min",
    isThrottled: false,
    limit: 256,
  },
  inputTokens: 12_140_000,
  cachedTokens: 2_000_000,
  outputTokens: 3_412_000,
  cost: { spent: 9.86, forecast: 23.04, max: 25 },
  errors: [
    {
      kind: '400 context_length_exceeded',
      count: 27,
      message: "This model's maximum context length is 128000 tokens, however you requested 131211",
    },
    {
      kind: 'ETIMEDOUT',
      count: 9,
      message: 'no answer from https://api.openai.com/v1 within 600 s',
    },
    { kind: '400 content_filter', count: 3, message: 'Der Text wurde abgelehnt 拒否されました' },
  ],
  downForMs: 0,
  outageMs: 1_800_000,
  stop: undefined,
};

const PACE = {
  perSecond: undefined,
  source: undefined,
  heldBy: undefined,
  isThrottled: false,
  limit: 256,
};

/** A run in each state that its screen knows. */
export const STATES: Readonly<Record<string, BatchProgress>> = {
  starting: {
    ...RUNNING,
    phase: 'starting',
    checked: 34_000,
    total: undefined,
    doneBefore: 0,
    ok: 0,
    failed: 0,
    inFlight: 0,
    waiting: 0,
    attempts: 0,
    rejected: 0,
    ratePerSecond: undefined,
    etaMs: undefined,
    pace: undefined,
    inputTokens: 0,
    outputTokens: 0,
    cost: { spent: 0, forecast: undefined, max: 25 },
    errors: [],
  },
  running: { ...RUNNING, pace: PACE, errors: [], failed: 0, rejected: 0, cost: undefined },
  held: RUNNING,
  throttled: {
    ...RUNNING,
    rejected: 1_204,
    pace: {
      ...PACE,
      perSecond: 4.2,
      source: 'learned',
      heldBy: '252 requests/min, learned from 429s',
      isThrottled: true,
    },
  },
  outage: { ...RUNNING, downForMs: 134_000, inFlight: 1, ratePerSecond: 0, pace: PACE },
  draining: {
    ...RUNNING,
    phase: 'draining',
    stop: { reason: 'interrupted', message: 'stopped' },
  },
  'over budget': {
    ...RUNNING,
    phase: 'draining',
    cost: { spent: 24.96, forecast: 57.9, max: 25 },
    stop: {
      reason: 'budget',
      message: 'the next request might cost more than is left of --max-cost 25: raise it to go on',
    },
  },
};
