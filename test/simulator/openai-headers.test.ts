import { describe, expect, it } from 'vitest';
import { formatDuration, openAiHeaders } from '../../src/simulator/openai-headers.ts';

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [19.2, '20ms'],
    [1000, '1s'],
    [8640, '8.64s'],
    [360_000, '6m0s'],
    [3_723_500, '1h2m3.5s'],
    [86_400_000, '24h0m0s'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe('openAiHeaders', () => {
  it('tells the first limit of each unit, and rounds the wait up', () => {
    const limit = { name: 'a', limit: 9, remaining: 4, resetMs: 1500 };
    const limits = [
      { ...limit, unit: 'tokens' as const },
      { ...limit, name: 'b', unit: 'tokens' as const, limit: 99 },
    ];
    expect(openAiHeaders({ limits, retryAfterMs: 1200.5 })).toEqual({
      'x-ratelimit-limit-tokens': '9',
      'x-ratelimit-remaining-tokens': '4',
      'x-ratelimit-reset-tokens': '1.5s',
      'retry-after-ms': '1201',
      'retry-after': '2',
    });
  });
});
