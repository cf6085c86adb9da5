import fc from 'fast-check';
import { NAMES } from './unprintable.ts';

const oneOf = <const T>(...values: T[]) => fc.constantFrom(...values);
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 });

/** Callbacks that may throw. */
export const CALLBACKS = [
  ...['isFailure', 'classify', 'random', 'estimate', 'priority', 'event', 'next'],
  ...['arrived', 'queued', 'admitted', 'attemptStarted', 'attemptEnded', 'backoff', 'changed'],
  ...['settled', 'opened', 'opened end', 'around', 'sending', 'delivering', 'teardown', 'project'],
] as const;
export type Callback = (typeof CALLBACKS)[number];

const setup = fc.record({
  api: oneOf('limiter', 'limiter', 'group', 'throttle'),
  concurrency: fc.integer({ min: 1, max: 3 }),
  adaptive: oneOf<'rate' | 'failures' | 'latency' | false>('rate', 'failures', 'latency', false),
  hasBreaker: fc.boolean(),
  hasProbe: fc.boolean(),
  limit: some(fc.integer({ min: 1, max: 4 })),
  onLimit: oneOf('wait', 'fail'),
  /** Whether the keys of a group share a rate limit, too. */
  sharesLimits: fc.boolean(),
  pace: some(oneOf(0, 20)),
  waitTimeoutMs: some(oneOf(1, 50, 500)),
  maxQueue: some(fc.integer({ min: 0, max: 4 })),
  maxAttempts: some(fc.integer({ min: 1, max: 3 })),
  deadlineMs: some(oneOf(0, 200, 3_000)),
  attemptTimeoutMs: some(oneOf(30, 400)),
  outcomes: fc.boolean(),
  ordered: fc.boolean(),
  /** The callbacks that throw, what they throw, and at which of their calls: a bit for each. */
  hostile: fc.subarray([...CALLBACKS], { maxLength: 6 }),
  thrown: oneOf(...NAMES),
  when: oneOf(0xffff_ffff, 0xffff_ffff, 1, 2, 0xaaaa_aaaa, 0x8888_8888),
});
export type Setup = typeof setup extends fc.Arbitrary<infer S> ? S : never;

const step = fc.record({
  do: oneOf(
    ...['run', 'run', 'run', 'wrap', 'acquire', 'stream', 'stream', 'stream', 'answer', 'answer'],
    ...[
      'answer',
      'answer',
      'fail',
      'fail',
      'release',
      'abort',
      'unsubscribe',
      'timeout',
      'timeout',
      'move',
    ],
    ...['wait', 'wait', 'wait', 'drop'],
  ),
  a: fc.nat(1_000),
  b: fc.nat(1_000),
  ms: oneOf(0, 0, 1, 20, 100, 700, 5_000),
});
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

export const script = fc.record({ setup, steps: fc.array(step, { maxLength: 50 }) });
export type Script = typeof script extends fc.Arbitrary<infer S> ? S : never;
