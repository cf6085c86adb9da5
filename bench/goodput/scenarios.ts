/**
 * The default scenarios. Their capacity is about 10 requests/s, unless their text says otherwise.
 */
import type { LimitOptions } from 'headgate/simulator';
import { complete, type Scenario, type ScenarioOptions } from './scenario.ts';

const minute = { unit: 'requests', limit: 600, windowMs: 60_000 } as const;
const sliding: LimitOptions = { ...minute, algorithm: 'sliding-window' };
const bucket: LimitOptions = { ...minute, algorithm: 'token-bucket', burst: 100 };
const slow: LimitOptions = { ...sliding, limit: 30 };
/** A bucket that holds the capacity of one second. */
const fast = (perSecond: number): LimitOptions => ({
  ...minute,
  algorithm: 'token-bucket',
  limit: perSecond * 60,
  burst: perSecond,
});
const SECOND_MS = 1000;
const QUICK = { meanMs: 1000, sigma: 0.5 };

const options: readonly ScenarioOptions[] = [
  { name: 'tb', about: 'a token bucket that holds 10 s', provider: { limits: [bucket] } },
  {
    name: 'q1s',
    about: 'fixed windows of 1 s behind headers that tell of a minute',
    provider: {
      limits: [
        {
          unit: 'requests',
          algorithm: 'fixed-window',
          limit: 10,
          windowMs: SECOND_MS,
          advertised: { limit: 600, windowMs: 60_000 },
        },
      ],
    },
  },
  {
    name: 'fw',
    about: 'a fixed window of a minute',
    provider: { limits: [{ ...minute, algorithm: 'fixed-window' }] },
  },
  { name: 'sw', about: 'a sliding window of a minute', provider: { limits: [sliding] } },
  {
    name: 'swCnt',
    about: 'a sliding window of a minute in which rejected requests count',
    provider: { limits: [sliding], countRejected: true },
  },
  {
    name: 'conc',
    about: 'a server of 32 units that turns away above 64 requests with 503',
    provider: { concurrency: { units: 32, queue: 32, status: 503 } },
  },
  {
    name: 'halve',
    about: 'a token bucket whose rate halves from 200 to 400 s',
    provider: {
      limits: [bucket],
      capacity: [
        { atMs: 200 * SECOND_MS, factor: 0.5 },
        { atMs: 400 * SECOND_MS, factor: 1 },
      ],
    },
  },
  {
    name: 'tenants',
    about: 'other tenants take 10 to 70 % of a token bucket, changing within half a minute',
    provider: { limits: [bucket] },
    others: { least: 0.1, most: 0.7, everyMs: 30 * SECOND_MS },
  },
  {
    name: 'storm',
    about: 'three full outages of 20 s, answered with 503 and no Retry-After',
    provider: {
      limits: [bucket],
      storms: [120, 300, 480].map((second) => ({
        fromMs: second * SECOND_MS,
        toMs: (second + 20) * SECOND_MS,
      })),
    },
  },
  {
    name: 'steps',
    about: 'a token bucket of 0.4, 1.6, 0.4 and 1.6 times the rate, 150 s each',
    provider: {
      limits: [bucket],
      capacity: [
        { atMs: 0, factor: 0.4 },
        { atMs: 150 * SECOND_MS, factor: 1.6 },
        { atMs: 300 * SECOND_MS, factor: 0.4 },
        { atMs: 450 * SECOND_MS, factor: 1.6 },
      ],
    },
  },
  {
    name: 'slow30',
    about: '30 requests a minute in a sliding window, for half an hour',
    seconds: 1200,
    provider: { limits: [slow] },
  },
  {
    name: 'slow30halve',
    about: 'the same, halved from 600 to 1200 s',
    seconds: 1200,
    provider: {
      limits: [slow],
      capacity: [
        { atMs: 600 * SECOND_MS, factor: 0.5 },
        { atMs: 1200 * SECOND_MS, factor: 1 },
      ],
    },
  },
  {
    name: 'fast300',
    about: '300 requests/s in a token bucket that holds 1 s, answers within a second, for 90 s',
    seconds: 90,
    provider: { limits: [fast(300)], latency: QUICK },
  },
  {
    name: 'start100',
    about: 'the first minute at 100 requests/s, a token bucket that holds 1 s',
    seconds: 60,
    provider: { limits: [fast(100)], latency: QUICK },
  },
  {
    name: 'start300',
    about: 'the first minute at 300 requests/s, a token bucket that holds 1 s',
    seconds: 60,
    provider: { limits: [fast(300)], latency: QUICK },
  },
  {
    name: 'heavy',
    about: 'tokens bind, and the tail is heavy: log-normal with sigma 1.5',
    provider: {
      limits: [
        {
          unit: 'tokens',
          algorithm: 'token-bucket',
          limit: 600_000,
          windowMs: 60_000,
          burst: 100_000,
        },
      ],
    },
    prompts: { inputTokens: 600, outputTokens: 400, sigma: 1.5 },
  },
  {
    name: 'slow429',
    about: 'a token bucket whose rejections take 2 s to come back',
    provider: { limits: [bucket], rejectLatencyMs: { meanMs: 2000, sigma: 0.3 } },
  },
  {
    name: 'blind',
    about: 'a token bucket that never says Retry-After',
    provider: { limits: [bucket], retryAfter: 'none' },
  },
  {
    name: 'eight',
    about: 'eight workers that know nothing of each other share a token bucket',
    workers: 8,
    provider: { limits: [bucket] },
  },
];

export const scenarios: readonly Scenario[] = options.map(complete);
