import { describe, expect, it } from 'vitest';
import { reportedLimits } from '../../../src/providers/classify.ts';
import { headersOfResult } from '../../../src/providers/result.ts';
import { usageOf } from '../../../src/providers/usage.ts';
import { checkLimits, checkVerdict } from '../../providers/checks.ts';
import { ODD_TEXTS } from '../../providers/documented.ts';
import { cpuMs } from '../../support/cpu-time.ts';

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
    'limit=60, ',
    '60;w=60, ',
    'current tpm: 9, tpm limit: 8, ',
    'Limit type: ',
    'Too many tokens',
  ];
  const swollen = repeated
    .filter((text) => text.length > 0)
    .map((text) => text.repeat(Math.ceil(HUGE / text.length)));

  it('takes no time to speak of, in any place', () => {
    for (const text of swollen) {
      const startedAt = cpuMs();
      const held = Object.fromEntries(
        [
          'retry-after',
          'ratelimit',
          'ratelimit-policy',
          'ratelimit-limit',
          'x-ratelimit-limit',
          'x-ratelimit-api_key-limit-requests',
          'x-litellm-call-id',
          'rate_limit_type',
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
      expect(cpuMs() - startedAt).toBeLessThan(5_000);
    }
  });

  it('nor in what is just short enough to be read', () => {
    for (const size of [60, 2_000, 4_000, 60_000]) {
      for (const text of swollen.map((long) => long.slice(0, size))) {
        const startedAt = cpuMs();
        checkVerdict({
          status: 429,
          message: text,
          responseBody: text,
          headers: { ratelimit: text, 'ratelimit-policy': text, 'x-ratelimit-limit': text },
        });
        checkVerdict({ status: 429, headers: { 'retry-after': text, 'x-amzn-errortype': text } });
        expect(cpuMs() - startedAt).toBeLessThan(2_000);
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
