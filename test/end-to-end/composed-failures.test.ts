import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { from } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  backoffGate,
  byteBudget,
  byteEstimate,
  concurrencyLimit,
  dispatch,
  FeedbackSubject,
  type Outcome,
  throttle,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/index.ts';
import { ApiError, tooMany } from '../request/harness.ts';
import { type Collected, lengthOf, parentOf, type Sdk, startSdk } from '../telemetry/sdk.ts';

const LIMITS = { concurrency: 4, maxBytes: 300, throttledConcurrency: 2 };
/** Each has another size, by which its spans are found. */
const PROMPTS = Array.from({ length: 40 }, (_, n) => 'x'.repeat(50 + n));
const ANSWERS: Readonly<Record<number, readonly Error[]>> = {
  2: [new ApiError(400)],
  5: [new ApiError(500)],
  11: [tooMany(400)],
  12: [new ApiError(503), new ApiError(503)],
  20: [new ApiError(500), new ApiError(500), new ApiError(500), new ApiError(500)],
  31: [new ApiError(404)],
  33: [new ApiError(500), new ApiError(401)],
};

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

interface Ended {
  readonly bytes: number;
  readonly status: string;
  readonly error: string | undefined;
  readonly attempts: number;
  readonly durationMs: number;
}

function endOf({ request, status, stats, ...end }: Outcome<string, number>): Ended {
  const error = 'error' in end && end.error instanceof ApiError ? end.error : undefined;
  const { attempts, durationMs } = stats;
  return { bytes: request.length, status, error: error && `${error.status}`, attempts, durationMs };
}

function run(name: 'composed' | 'together') {
  const clock = new ManualClock();
  const feedback = new FeedbackSubject({ clock });
  const shared = { name, feedback };
  const random = () => 0.5;
  const { concurrency, throttledConcurrency, maxBytes } = LIMITS;
  const send = async (prompt: string, { attempt }: { attempt: number }) => {
    await new Promise((resolve) => clock.setTimer(() => resolve(1), 100));
    const error = ANSWERS[PROMPTS.indexOf(prompt)]?.[attempt - 1];
    if (error !== undefined) throw error;
    return prompt.length;
  };
  const sized = from(PROMPTS).pipe(byteEstimate<string>(undefined, { name }));
  const outcomes: Ended[] = [];
  const results =
    name === 'composed'
      ? sized.pipe(
          concurrencyLimit({ ...shared, concurrency, throttledConcurrency }),
          byteBudget({ ...shared, maxBytes }),
          backoffGate(shared),
          dispatch(send, { ...shared, random, outcomes: true }),
        )
      : sized.pipe(
          throttle(send, { ...LIMITS, ...shared, random, adaptive: false, outcomes: true }),
        );
  const subscription = results.subscribe((outcome) => outcomes.push(endOf(outcome)));
  return { clock, outcomes, subscription };
}

const runBoth = () => [run('composed'), run('together')] as const;

/** The series of a metric by all but the name that they are under; of a histogram count and sum. */
function seriesOf(now: Collected, metric: string, name: string): Readonly<Record<string, unknown>> {
  const series: Record<string, unknown> = {};
  for (const { attributes, value } of now.points(metric)) {
    const { 'headgate.name': own, ...rest } = attributes;
    const told = typeof value === 'number' ? value : [value.count, value.sum];
    if (own === name) series[JSON.stringify(rest)] = told;
  }
  return series;
}

/**
 * All that a span tells, but for its name, and for what was waited for: the forms queue elsewhere.
 */
function told(span: ReadableSpan) {
  const { 'headgate.name': _, ...attributes } = span.attributes;
  const events = span.events.filter(({ name }) => name !== 'headgate.wait');
  return {
    name: span.name,
    attributes,
    status: span.status,
    ms: lengthOf(span),
    events: events.map(({ name, attributes }) => [name, attributes]),
  };
}

/** The spans of each request but those of waits, by its bytes. */
function tracesOf(name: string): ReadonlyMap<unknown, readonly ReturnType<typeof told>[]> {
  const own = sdk.finished().filter(({ attributes }) => attributes['headgate.name'] === name);
  const requests = own.filter((span) => span.name === 'headgate.request');
  return new Map(
    requests.map((request) => {
      const children = own.filter((span) => parentOf(span) === request.spanContext().spanId);
      const attempts = children.filter((span) => span.name !== 'headgate.wait');
      return [request.attributes['headgate.bytes'], [request, ...attempts].map(told)] as const;
    }),
  );
}

describe('the operators, composed by hand, of requests that fail', () => {
  it('have the outcomes, durations and bytes in use that throttle has', async () => {
    const runs = runBoth();
    // The gate is open then: what waits for it holds its bytes where the operators are apart.
    const looks = [50, 150, 250, 1_000, 3_000, 60_000];
    for (const [index, at] of looks.entries()) {
      for (const { clock } of runs) await clock.advanceAsync(at - (looks[index - 1] ?? 0));
      const now = await sdk.collect();
      const of = (name: string) =>
        ['headgate.request.duration', 'headgate.byte_budget.usage'].map((metric) =>
          seriesOf(now, metric, name),
        );
      expect(of('composed'), `at ${at} ms`).toEqual(of('together'));
    }
    const [composed, together] = runs;
    expect(composed.outcomes).toEqual(together.outcomes);
    expect(composed.outcomes).toHaveLength(PROMPTS.length);
    const failed = composed.outcomes.filter(({ status }) => status === 'failed');
    expect(failed.map(({ attempts, error }) => [attempts, error])).toEqual([
      [1, '400'],
      [3, '500'],
      [1, '404'],
      [2, '401'],
    ]);
    const retried = composed.outcomes.filter(
      ({ attempts, status }) => status === 'ok' && attempts > 1,
    );
    expect(retried.map(({ attempts }) => attempts)).toEqual([2, 2, 3]);
  });

  it('make the spans of each request that throttle makes, but for those of waits', async () => {
    for (const { clock } of runBoth()) await clock.advanceAsync(60_000);
    const composed = tracesOf('composed');
    expect(composed.size).toBe(PROMPTS.length);
    expect(composed).toEqual(tracesOf('together'));
    const names = (bytes: number) => composed.get(bytes)?.map(({ name }) => name);
    expect(names(50)).toEqual(['headgate.request', 'headgate.attempt']);
    expect(names(70)).toEqual(['headgate.request', ...Array(3).fill('headgate.attempt')]);
  });

  it('give up as many as throttle does when they are unsubscribed', async () => {
    const runs = runBoth();
    for (const { clock, subscription } of runs) {
      await clock.advanceAsync(150);
      subscription.unsubscribe();
      await clock.advanceAsync(1_000);
    }
    const now = await sdk.collect();
    const of = (name: string) => {
      const givenUp = Object.values(seriesOf(now, 'headgate.request.given_up', name)).map(Number);
      const sum = givenUp.reduce((a, b) => a + b, 0);
      return { sum, requests: seriesOf(now, 'headgate.requests', name) };
    };
    expect(of('composed')).toEqual(of('together'));
    // Four were in flight.
    expect(of('composed')).toMatchObject({
      sum: 32,
      requests: { '{"headgate.outcome":"cancelled"}': 36 },
    });
  });
});
