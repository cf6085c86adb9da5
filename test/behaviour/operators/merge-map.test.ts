import fc from 'fast-check';
import { mergeMap } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { concurrencyLimit, createLimiter, dispatch, throttle } from '../../../src/index.ts';
import { withoutAfterlife } from '../../support/marbles-end.ts';
import { type Mapping, play } from '../../support/marbles-play.ts';
import { crowded, scenario } from '../../support/marbles-scenario.ts';
import { runs } from '../../support/runs.ts';

const merged: Mapping = (project, concurrency) => mergeMap(project, concurrency);

/** The error of a project that returns nothing names the project, which that of mergeMap does not. */
const inOwnWords = (line: string) =>
  line.replace(
    /You provided '(.*)' where a stream was expected\..*/,
    '`project()` must be an Observable, a promise or an iterable, got $1',
  );

/** Ways to run with a concurrency limit alone; each is to do what mergeMap does. */
const ways: Record<string, Mapping> = {
  throttle: (project, concurrency, clock) =>
    throttle((value, { index }) => project(value, index), { concurrency, clock }),

  'throttle with `adaptive: false`': (project, concurrency, clock) =>
    throttle((value, { index }) => project(value, index), { concurrency, clock, adaptive: false }),

  'throttle with a probe': (project, concurrency, clock) =>
    throttle((value, { index }) => project(value, index), {
      concurrency,
      clock,
      instrumentation: {},
    }),

  'throttle of a limiter': (project, concurrency, clock) =>
    createLimiter({ concurrency, clock }).throttle((value, { index }) => project(value, index)),

  'concurrencyLimit and dispatch': (project, concurrency, clock) => (source) =>
    source.pipe(
      concurrencyLimit({ concurrency, clock }),
      dispatch((value, { index }) => project(value, index), { clock }),
    ),
};

describe.each(Object.entries(ways))('%s', (_name, way) => {
  test.each([
    ['left alone', []],
    ['unsubscribed inside callbacks', ['unsubscribe' as const]],
    ['when the source emits inside callbacks', ['push' as const]],
    ['when the source completes inside callbacks', ['complete' as const]],
    ['when the source fails inside callbacks', ['error' as const]],
    ['whatever callbacks do', ['push', 'push', 'complete', 'error', 'unsubscribe'] as const],
  ])('emits, subscribes and unsubscribes as mergeMap does, %s', (_when, does) => {
    fc.assert(
      fc.property(scenario(...does), (script) => {
        const expected = withoutAfterlife(play(script, merged)).map(inOwnWords);
        expect(play(script, way)).toEqual(expected);
      }),
      { numRuns: runs(50) },
    );
  });
});

describe.each([
  ['by default', 16, {}],
  ['with `adaptive: false`', 40, { adaptive: false }],
] as const)('throttle of dozens of values, %s', (_how, most, options) => {
  const way: Mapping = (project, concurrency, clock) =>
    throttle((value, { index }) => project(value, index), { concurrency, clock, ...options });

  test(`does as mergeMap does, with up to ${most} at once`, () => {
    fc.assert(
      fc.property(crowded(most, 'push', 'complete', 'error', 'unsubscribe'), (script) => {
        const expected = withoutAfterlife(play(script, merged)).map(inOwnWords);
        expect(play(script, way)).toEqual(expected);
      }),
      { numRuns: runs(50) },
    );
  });
});
