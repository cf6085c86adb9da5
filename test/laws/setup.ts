import fc from 'fast-check';
import type { RateLimit } from '../../src/policies/rate-limit/rate-limit.ts';
import type { CircuitOptions } from '../../src/request/gate-options.ts';

/** Off half the time: gates that are off make others matter. */
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const oneOf = <const T>(...values: T[]) => fc.constantFrom(...values);

/** Names of limits; no request is expected to cost the last one. */
const NAMES = ['requests', 'tokens', 'credits'] as const;

const rateLimit: fc.Arbitrary<RateLimit> = fc
  .record({
    limit: fc.integer({ min: 1, max: 8 }),
    windowMs: oneOf(50, 100, 400, 2000),
    algorithm: oneOf('sliding-window', 'token-bucket', 'fixed-window'),
    charge: oneOf('upfront', 'settle', 'actual'),
    burst: some(fc.integer({ min: 1, max: 10 })),
  })
  .map(({ burst, ...rest }) =>
    burst === undefined || rest.algorithm !== 'token-bucket' ? rest : { ...rest, burst },
  );

export type CircuitRules = Required<
  Pick<CircuitOptions, 'consecutiveFailures' | 'openMs' | 'halfOpenProbes' | 'onOpen'>
>;

const circuitBreaker: fc.Arbitrary<CircuitRules> = fc.record({
  consecutiveFailures: fc.integer({ min: 1, max: 3 }),
  openMs: oneOf(20, 300),
  halfOpenProbes: fc.integer({ min: 1, max: 2 }),
  onOpen: oneOf('fail', 'wait'),
});

const adaptive = fc.oneof(
  oneOf(false),
  oneOf('rate'),
  fc.record({ strategy: oneOf('rate'), initialLimit: oneOf(1) }),
  fc.record({
    strategy: oneOf('failures'),
    failureThreshold: fc.integer({ min: 1, max: 3 }),
    coolingMs: oneOf(50, 500),
    ceilingResetFactor: oneOf(0, 2, 5),
  }),
  fc.record({
    strategy: oneOf('latency'),
    windowMs: oneOf(0, 50),
    backoffRatio: oneOf(0.1, 0.9),
  }),
);

/** All options of a limiter or `throttle`. */
export const setup = fc.record({
  api: oneOf('limiter', 'throttle'),
  /** The listeners: each makes the library take another path. */
  hasProbe: fc.boolean(),
  hasListener: fc.boolean(),
  isHeard: oneOf(true, true, false),
  concurrency: fc.integer({ min: 1, max: 4 }),
  throttledConcurrency: fc.integer({ min: 1, max: 3 }),
  maxBytes: some(oneOf(0, 30, 100)),
  throttledByteFactor: oneOf(1, 3),
  limits: fc.array(fc.tuple(oneOf(...NAMES), rateLimit), { maxLength: 2 }),
  onLimit: oneOf('wait', 'wait', 'fail'),
  refundRejected: fc.boolean(),
  pace: some(
    fc.record({
      intervalMs: oneOf(0, 7, 40),
      jitter: oneOf(0, 0.5),
      maxIntervalMs: oneOf(40, 300),
    }),
  ),
  circuitBreaker: some(circuitBreaker),
  adaptive: some(adaptive),
  hasPredicate: fc.boolean(),
  maxQueue: some(fc.integer({ min: 0, max: 4 })),
  overflow: oneOf('error', 'drop-oldest', 'drop-newest'),
  waitTimeoutMs: some(oneOf(1, 60, 500)),
  agingMs: oneOf(1, 50, 10_000),
  reopen: oneOf('probe', 'probe', 'all'),
  throttledForMs: oneOf(0, 100),
  maxAttempts: some(fc.integer({ min: 1, max: 4 })),
  deadlineMs: some(oneOf(1, 100, 1500)),
  attemptTimeoutMs: some(oneOf(30, 300)),
  outcomes: fc.boolean(),
  ordered: fc.boolean(),
  hasPriority: fc.boolean(),
  /** The end of the script: all attempts succeed, or all users leave. */
  ending: oneOf('heal', 'leave'),
});

export type Setup = typeof setup extends fc.Arbitrary<infer S> ? S : never;

const DOINGS = [
  ...[
    'burst',
    'burst',
    'next',
    'next',
    'run',
    'run',
    'runPlain',
    'wrap',
    'acquire',
    'acquire',
    'acquirePlain',
  ],
  ...[
    'tryAcquire',
    'answer',
    'answer',
    'answer',
    'answer',
    'value',
    'release',
    'release',
    'tokens',
  ],
  ...[
    'abort',
    'unsubscribe',
    'complete',
    'fail',
    'configure',
    'configure',
    'close',
    'drain',
    'pause',
    'resume',
    'resume',
    'clear',
    'push',
  ],
  ...['recordSuccess', 'recordFailure', 'recordTokens', 'look', 'look', 'subscribe'],
] as const;

/** The callbacks in which a user's code may call the library again. */
const TRAPS = [
  ...['project', 'next', 'error', 'complete', 'event', 'feedback', 'estimate'],
  ...['priority', 'arrived', 'queued', 'admitted', 'attemptStarted', 'attemptEnded', 'backoff'],
  ...['changed', 'settled', 'isFailure', 'classify', 'teardown', 'abort'],
] as const;

/** An action of a user; `a`, `b` and `c` select its target and variant. */
export const action = fc.record({
  do: oneOf(...DOINGS),
  a: fc.nat(1000),
  b: fc.nat(1000),
  c: fc.nat(1000),
});

export type Action = typeof action extends fc.Arbitrary<infer S> ? S : never;

export const step = fc.record({
  action,
  /** Performs the action in the next callback of this name. */
  trap: fc.option(oneOf(...TRAPS), { nil: undefined, freq: 4 }),
  /** What follows: nothing, promises settle, or time passes: until a timer fires, or just not. */
  after: oneOf<'on' | 'settle' | 'next' | 'before' | number>(
    'on',
    'on',
    'settle',
    'settle',
    1,
    20,
    100,
    700,
    'next',
    'before',
  ),
  pauseMs: oneOf(0, 0, 0, 3, 30, 250, 8000),
});

export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** What happens to a limiter, or to one stream behind `throttle`. */
export function scriptOf(api: Setup['api']) {
  return fc.record({
    setup: setup.map((given): Setup => ({ ...given, api })),
    steps: fc.array(step, { maxLength: 40 }),
  });
}

/** Selects one of the present items, if there are any. */
export function pick<T>(list: readonly T[], index: number): T | undefined {
  return list[index % (list.length || 1)];
}
