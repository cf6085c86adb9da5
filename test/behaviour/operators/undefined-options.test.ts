import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { AdaptiveConfig, BackoffConfig, CircuitBreakerConfig } from '../../../src/advanced.ts';
import {
  backoffGate,
  byteBudget,
  byteEstimate,
  chunkBy,
  circuitBreaker,
  concurrencyLimit,
  createLimiter,
  createLimiterGroup,
  dispatch,
  FeedbackSubject,
  type LimiterOptions,
  pace,
  type RateLimit,
  rateLimit,
  type ThrottleOptions,
  tapProgress,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';

/** Every option of `T` by name: the compiler says which one is missing here. */
type Names<T> = Readonly<Record<keyof T, undefined>>;

const shared = {
  adaptive: undefined,
  agingMs: undefined,
  backoff: undefined,
  circuitBreaker: undefined,
  classify: undefined,
  clock: undefined,
  concurrency: undefined,
  deadlineMs: undefined,
  maxRetryAfterMs: undefined,
  onLongWait: undefined,
  outageMs: undefined,
  failedAttempts: undefined,
  attemptTimeoutMs: undefined,
  feedback: undefined,
  isFailure: undefined,
  limits: undefined,
  maxAttempts: undefined,
  maxBytes: undefined,
  maxQueue: undefined,
  name: undefined,
  onLimit: undefined,
  overflow: undefined,
  costBudget: undefined,
  pace: undefined,
  instrumentation: undefined,
  random: undefined,
  refundRejected: undefined,
  requestsPerMinute: undefined,
  shared: undefined,
  telemetry: undefined,
  throttledByteFactor: undefined,
  throttledConcurrency: undefined,
  tokensPerMinute: undefined,
  waitTimeoutMs: undefined,
};
const ofLimiter: Names<LimiterOptions> = {
  ...shared,
  milestonePercent: undefined,
  total: undefined,
};
const ofThrottle: Names<ThrottleOptions> = {
  ...shared,
  costs: undefined,
  estimate: undefined,
  ordered: undefined,
  outcomes: undefined,
  priority: undefined,
  weight: undefined,
};
const ofBackoff: Names<BackoffConfig> = {
  backoffMs: undefined,
  largeBackoffMs: undefined,
  reopen: undefined,
  throttledForMs: undefined,
};
const ofCircuit: Names<CircuitBreakerConfig> = {
  consecutiveFailures: undefined,
  failureRatio: undefined,
  windowMs: undefined,
  leastRequests: undefined,
  halfOpenProbes: undefined,
  onOpen: undefined,
  openMs: undefined,
};
const strategies: AdaptiveConfig[] = [
  { strategy: 'rate', initialLimit: undefined },
  {
    strategy: 'latency',
    initialLimit: undefined,
    backoffRatio: undefined,
    queueSize: undefined,
    windowMs: undefined,
    per: undefined,
  },
  {
    strategy: 'failures',
    failureThreshold: undefined,
    failureWindowMs: undefined,
    coolingMs: undefined,
    ceilingResetFactor: undefined,
  },
];
const ofLimit: Names<Omit<RateLimit, 'limit' | 'windowMs'>> = {
  algorithm: undefined,
  burst: undefined,
  charge: undefined,
  initial: undefined,
};
const request = { limit: 5, windowMs: 1000 };

describe('an option that is undefined is not given', () => {
  test.each<[string, LimiterOptions, LimiterOptions]>([
    ['every option', ofLimiter, {}],
    ['backoff', { backoff: ofBackoff }, { backoff: {} }],
    ['circuitBreaker', { circuitBreaker: ofCircuit }, { circuitBreaker: true }],
    ['pace', { pace: { intervalMs: undefined, jitter: undefined } }, { pace: {} }],
    [
      'limits',
      { limits: { requests: { ...request, ...ofLimit } } },
      { limits: { requests: request } },
    ],
    ...strategies.map((adaptive): [string, LimiterOptions, LimiterOptions] => [
      `adaptive: '${adaptive.strategy}'`,
      { adaptive },
      { adaptive: adaptive.strategy },
    ]),
  ])('of a limiter: %s', (_, options, without) => {
    const clock = new ManualClock();
    expect(createLimiter({ ...options, clock }).snapshot()).toEqual(
      createLimiter({ ...without, clock }).snapshot(),
    );
  });

  test('of changes to a limiter', () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 3, limits: { requests: request } });
    const before = limiter.snapshot();
    limiter.configure({ concurrency: undefined, maxBytes: undefined, limits: undefined });
    expect(limiter.snapshot()).toEqual(before);
  });

  test('of a request', async () => {
    const limiter = createLimiter();
    const unsaid = { bytes: undefined, tokens: undefined, costs: undefined };
    expect(await limiter.run(() => 1, { ...unsaid, priority: undefined, signal: undefined })).toBe(
      1,
    );
  });

  test('of a group', async () => {
    const unsaid = { each: undefined, shared: undefined, idleMs: undefined, clock: undefined };
    const group = createLimiterGroup((key: string) => key, { ...unsaid, name: undefined });
    expect(await group.run('a', () => 1)).toBe(1);
  });

  test('of operators', async () => {
    const common = { feedback: undefined, clock: undefined, instrumentation: undefined };
    const gate = { ...common, reclaimAfterMs: undefined };
    const feedback = new FeedbackSubject({
      ...ofBackoff,
      clock: undefined,
      instrumentation: undefined,
    });
    const lengths = from(['a', 'bb']).pipe(
      byteEstimate(undefined),
      chunkBy({
        maxItems: undefined,
        maxBytes: undefined,
        maxDelayMs: undefined,
        clock: undefined,
      }),
      concurrencyLimit({ ...gate, concurrency: undefined, throttledConcurrency: undefined }),
      byteBudget({ ...gate, maxBytes: undefined, throttledByteFactor: undefined }),
      backoffGate({ ...gate, feedback }),
      rateLimit({ ...gate, limits: { requests: { ...request, ...ofLimit } }, onLimit: undefined }),
      pace({ ...gate, intervalMs: 1, jitter: undefined, random: undefined }),
      circuitBreaker({ ...gate, ...ofCircuit, isFailure: undefined }),
      dispatch(async (words: string[]) => words.length, {
        ...common,
        classify: undefined,
        maxAttempts: undefined,
        outcomes: undefined,
      }),
    );
    expect(await lastValueFrom(lengths.pipe(toArray()))).toEqual([2]);
  });

  test('of `throttle` and `tapProgress`', async () => {
    const results = from(['a', 'b']).pipe(
      throttle(async (word) => word, ofThrottle),
      tapProgress(() => {}, { total: undefined, clock: undefined }),
    );
    expect(await lastValueFrom(results.pipe(toArray()))).toEqual(['a', 'b']);
  });
});
