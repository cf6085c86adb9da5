import fc from 'fast-check';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../../src/feedback/classify.ts';
import { headersOfResult } from '../../../src/feedback/result-headers.ts';
import { usageOf } from '../../../src/feedback/usage.ts';
import { RetryAfterTooLongError, throttle } from '../../../src/index.ts';
import type { ReportedLimit } from '../../../src/model/feedback.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { bodyText, headers, ODD_TEXTS, oddValue, thrown } from './hostile.ts';

/** 100,000 by default; `HEADGATE_FUZZ=1000000` for a long run. */
const RUNS = Number(process.env.HEADGATE_FUZZ ?? 100_000);
const KINDS = ['throttled', 'overloaded', 'failed', 'fatal'];
const UNITS = ['requests', 'tokens', 'input-tokens', 'output-tokens', 'bytes', 'concurrency'];

/** Plain checks: a matcher a value would take longer than what is tested. */
function demand(holds: boolean, what: unknown): void {
  if (!holds) throw new Error(`not so: ${JSON.stringify(what)}`);
}

const isAmount = (value: unknown) => Number.isFinite(value) && Number(value) >= 0;

function checkLimits(limits: readonly ReportedLimit[]): void {
  for (const limit of limits) {
    demand(UNITS.includes(limit.unit), limit);
    for (const [key, value] of Object.entries(limit)) {
      demand(key === 'unit' || isAmount(value), limit);
    }
    demand(limit.limit !== 0 && limit.windowMs !== 0, limit);
    demand(limit.limit !== undefined || limit.remaining !== undefined, limit);
  }
}

function checkVerdict(error: unknown, body?: string): number | undefined {
  const verdict = classify(error, body);
  const { kind, retry, retryAfterMs, limit, outage, limits = [] } = verdict;
  demand(KINDS.includes(kind) && typeof retry === 'boolean', verdict);
  demand(retryAfterMs === undefined || (isAmount(retryAfterMs) && retryAfterMs > 0), verdict);
  demand(limit === undefined || typeof limit === 'string', verdict);
  demand(outage === undefined || (kind === 'fatal' && typeof outage === 'string'), verdict);
  demand(kind !== 'fatal' || outage === undefined || !retry, verdict);
  checkLimits(limits);
  return retryAfterMs;
}

describe('whatever a provider says', () => {
  it('an error has a verdict that makes sense', () => {
    let waits = 0;
    fc.assert(
      fc.property(thrown, fc.option(bodyText, { nil: undefined }), (error, body) => {
        if (checkVerdict(error, body) !== undefined) waits += 1;
      }),
      { numRuns: Math.ceil(RUNS * 0.5) },
    );
    expect(waits).toBeGreaterThan(RUNS * 0.02);
  }, 600_000);

  it('headers tell of limits that make sense, or of none', () => {
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
  }, 600_000);

  it('results tell what they used and carry, or nothing', () => {
    const usage = fc.dictionary(
      fc.constantFrom('input_tokens', 'prompt_tokens', 'total_tokens', 'outputTokens', 'x'),
      oddValue,
    );
    const result = fc.oneof(oddValue, fc.record({ usage, headers, response: oddValue }));
    fc.assert(
      fc.property(result, (value) => {
        const used = usageOf(value);
        for (const count of Object.values(used ?? {})) demand(isAmount(count), used);
        reportedLimits(headersOfResult(value));
      }),
      { numRuns: Math.ceil(RUNS * 0.1) },
    );
  }, 600_000);

  it('nobody waits above the cap', async () => {
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
          throttle(project, { clock, random: () => 0.999, backoff: { maxRetryAfterMs: 5_000 } }),
        )
        .subscribe({ error: (reason) => (failure = reason) });
      await clock.runAllAsync();
      if (calls.length === 2) waits.push(calls[1] ?? 0);
      else
        demand(
          Object.is(failure, error) || failure instanceof RetryAfterTooLongError,
          String(failure),
        );
      demand(clock.pendingTimers === 0, 'a timer is left');
    };
    await fc.assert(fc.asyncProperty(thrown, attempt), { numRuns: Math.ceil(RUNS / 100) });
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000);
    expect(Math.min(...waits)).toBeGreaterThan(0);
    expect(waits.length).toBeGreaterThan(RUNS / 1_000);
  }, 600_000);
});

describe('a time that has passed or is none', () => {
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

describe('a huge answer', () => {
  const HUGE = 4_000_000;
  const repeated = [
    ...ODD_TEXTS,
    'try again in ',
    '1s',
    '{"',
    '[ ',
    '"a";',
    '\\"',
    'Too many tokens',
  ];
  const swollen = repeated
    .filter((text) => text.length > 0)
    .map((text) => text.repeat(Math.ceil(HUGE / text.length)));

  it('takes no time to speak of, in any place', () => {
    for (const text of swollen) {
      const startedAt = performance.now();
      const held = Object.fromEntries(
        [
          'retry-after',
          'ratelimit',
          'ratelimit-policy',
          'x-ratelimit-remaining-tokens',
          'date',
        ].map((name) => [name, text]),
      );
      checkVerdict({
        status: 429,
        headers: held,
        message: text,
        error: { message: text, code: text },
      });
      checkVerdict({
        statusCode: 429,
        responseBody: text,
        responseHeaders: { 'retry-after': text },
      });
      checkVerdict(text, text);
      checkVerdict(new Error(text));
      reportedLimits(held);
      // Some 60 ms on a slow machine; what is not linear would take hours.
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    }
  });

  it('nor in what is just short enough to be read', () => {
    for (const size of [60, 2_000, 4_000, 60_000]) {
      for (const text of swollen.map((long) => long.slice(0, size))) {
        const startedAt = performance.now();
        checkVerdict({
          status: 429,
          message: text,
          responseBody: text,
          headers: { ratelimit: text },
        });
        checkVerdict({ status: 429, headers: { 'retry-after': text, 'x-amzn-errortype': text } });
        expect(performance.now() - startedAt).toBeLessThan(2_000);
      }
    }
  });

  it('of many layers, headers and items is read so far', () => {
    const deep = JSON.stringify({ status: 429 }).replace(
      '}',
      `,"error":${'{"error":'.repeat(3_000)}1`,
    );
    checkVerdict(`${deep}${'}'.repeat(3_001)}`);
    checkVerdict('['.repeat(60_000));
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`x-${n}`, `${n}`]));
    checkVerdict({ status: 429, headers: many });
    checkVerdict({ status: 429, details: Array(100_000).fill({ retryDelay: '5s' }) });
    checkVerdict({ status: 429, errors: Array(100_000).fill({ violations: [{}] }) });
  });
});

describe('objects that lie', () => {
  const refuse = () => {
    throw new Error('refused');
  };
  const throwing: object = new Proxy(refuse, {
    get: refuse,
    has: refuse,
    ownKeys: refuse,
    getPrototypeOf: refuse,
    getOwnPropertyDescriptor: refuse,
    apply: refuse,
  });
  const mirror: object = new Proxy(() => mirror, { get: () => mirror, apply: () => mirror });
  const endless: object = new Proxy({}, { get: () => new Proxy({}, { get: () => endless }) });
  const { proxy: revoked, revoke } = Proxy.revocable([], {});
  revoke();
  const circle: Record<string, unknown> = { status: 429 };
  for (const key of ['error', 'cause', 'data', 'body', 'details', 'headers', 'response', 'usage']) {
    circle[key] = circle;
  }
  const unstable = {
    get status() {
      return Math.random() < 0.5 ? 429 : refuse();
    },
    get message() {
      return Math.random() < 0.5 ? '429 Too Many Requests' : {};
    },
  };
  const liars = [throwing, mirror, endless, revoked, circle, unstable];
  const KEYS = [
    ...[
      'error',
      'cause',
      'data',
      'body',
      'details',
      'headers',
      'response',
      'lastError',
      'metadata',
    ],
    ...['status', 'statusCode', 'code', 'name', 'type', 'message', '$metadata', '$retryable'],
    ...['retryDelay', 'violations', 'category', 'constructor', 'usage', 'responseBody'],
  ];

  it('are read as far as they can be, in any place', () => {
    for (const liar of liars) {
      checkVerdict(liar);
      checkLimits(reportedLimits(liar));
      usageOf(liar);
      headersOfResult(liar);
      for (const key of KEYS) {
        checkVerdict({ status: 429, [key]: liar });
        checkVerdict({ code: 8, [key]: liar });
        checkVerdict({ status: 429, details: [{ [key]: liar }], metadata: { get: () => liar } });
        checkLimits(reportedLimits({ [key]: liar, 'x-ratelimit-limit-tokens': liar }));
        usageOf({ [key]: liar });
        headersOfResult({ [key]: liar });
      }
    }
  });
});
