import fc from 'fast-check';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { RetryAfterTooLongError, throttle } from '../../../src/index.ts';
import { classify, reportedLimits } from '../../../src/providers/classify.ts';
import { headersOfResult } from '../../../src/providers/result.ts';
import { usageOf } from '../../../src/providers/usage.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { checkLimits, checkVerdict, isAmount } from '../../providers/checks.ts';
import { bodyText, headers, oddValue, thrown } from '../../providers/hostile.ts';
import { holds } from '../../support/holds.ts';
import { LONG_MS, runs } from '../../support/runs.ts';

const RUNS = runs(10_000);

describe('for generated answers of a provider', () => {
  it(
    'an error has a valid verdict',
    () => {
      let waits = 0;
      fc.assert(
        fc.property(thrown, fc.option(bodyText, { nil: undefined }), (error, body) => {
          if (checkVerdict(error, body) !== undefined) waits += 1;
        }),
        { numRuns: Math.ceil(RUNS * 0.5) },
      );
      expect(waits).toBeGreaterThan(RUNS * 0.02);
    },
    LONG_MS,
  );

  it(
    'headers give valid limits, or none',
    () => {
      let told = 0;
      fc.assert(
        fc.property(headers, fc.double(), (held, atWallMs) => {
          const limits = reportedLimits(held, atWallMs);
          if (limits.length > 0) told += 1;
          checkLimits(limits);
        }),
        { numRuns: Math.ceil(RUNS * 0.4) },
      );
      expect(told).toBeGreaterThan(RUNS * 0.05);
    },
    LONG_MS,
  );

  it(
    'results give valid usage and limits, or none',
    () => {
      const usage = fc.dictionary(
        fc.constantFrom('input_tokens', 'prompt_tokens', 'total_tokens', 'outputTokens', 'x'),
        oddValue,
      );
      const result = fc.oneof(oddValue, fc.record({ usage, headers, response: oddValue }));
      fc.assert(
        fc.property(result, (value) => {
          const used = usageOf(value);
          for (const count of Object.values(used ?? {})) holds(isAmount(count), used);
          reportedLimits(headersOfResult(value));
        }),
        { numRuns: Math.ceil(RUNS * 0.1) },
      );
    },
    LONG_MS,
  );

  it(
    'no wait exceeds the cap',
    async () => {
      const waits: number[] = [];
      const attempt = async (error: unknown) => {
        const clock = new ManualClock();
        const calls: number[] = [];
        const project = async () => {
          calls.push(clock.now());
          if (calls.length === 1) throw error;
          return 'done';
        };
        let failure: unknown;
        of('a')
          .pipe(
            throttle(project, { clock, random: () => 0.999, backoff: {}, maxRetryAfterMs: 5_000 }),
          )
          .subscribe({ error: (reason) => (failure = reason) });
        await clock.runAllAsync();
        if (calls.length === 2) waits.push(calls[1] ?? 0);
        else
          holds(
            Object.is(failure, error) || failure instanceof RetryAfterTooLongError,
            String(failure),
          );
        holds(clock.pendingTimers === 0, 'a timer is left');
      };
      await fc.assert(fc.asyncProperty(thrown, attempt), { numRuns: Math.ceil(RUNS / 100) });
      expect(Math.max(...waits)).toBeLessThanOrEqual(5_000);
      expect(Math.min(...waits)).toBeGreaterThan(0);
      expect(waits.length).toBeGreaterThan(RUNS / 1_000);
    },
    LONG_MS,
  );
});

describe('a past or invalid time', () => {
  const NONE = [
    '',
    ' ',
    '0',
    '-1',
    'NaN',
    'Infinity',
    'soon',
    '1970-01-01T00:00:00Z',
    '-5s',
    '1e3',
  ];
  const PAST = ['Sun, 06 Nov 1994 08:49:37 GMT', '2001-01-01T00:00:00Z', '1000000000'];

  it('is not waited for', () => {
    const bad = fc.constantFrom(...NONE, ...PAST.slice(0, 2));
    const delay = fc.constantFrom('', '-5s', '0s', 'soon', 'NaNs', '5', null, -5, {}, []);
    const held = fc.record({ 'retry-after': bad, 'retry-after-ms': bad });
    fc.assert(
      fc.property(held, delay, (given, retryDelay) => {
        const error = { message: 'try again in 0s', details: [{ retryDelay }] };
        const verdict = classify({ status: 429, headers: given, error });
        expect(verdict.retryAfterMs).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it('is no reset', () => {
    for (const reset of [...NONE.filter((text) => text !== '0'), ...PAST]) {
      const limits = reportedLimits({
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-reset': reset,
      });
      expect(limits).toEqual([{ unit: 'requests', limit: 50, windowMs: 60_000 }]);
    }
  });
});
