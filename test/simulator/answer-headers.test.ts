import { describe, expect, it } from 'vitest';
import {
  formatDuration,
  type HeaderStyle,
  openAiHeaders,
} from '../../src/simulator/answer-headers.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { createProvider } from '../../src/simulator/provider.ts';
import { ProviderError } from '../../src/simulator/provider-types.ts';

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

const request = { inputTokens: 10, maxTokens: 5 };
const limit = { algorithm: 'token-bucket', limit: 2, windowMs: 4000 } as const;

/** The headers of an answer that is ok, and of one that is not. */
async function headersOf(headers?: HeaderStyle) {
  const provider = createProvider({
    clock: new ManualClock(500),
    limits: [
      { ...limit, unit: 'requests', burst: 1 },
      { ...limit, unit: 'output-tokens', limit: 100 },
    ],
    ...(headers && { headers }),
  });
  const { headers: told } = await provider.submitOrThrow(request);
  const error: unknown = await provider.submitOrThrow(request).catch((reason) => reason);
  if (!(error instanceof ProviderError)) throw new Error('it was let in');
  return { told, rejected: error.headers };
}

describe('the headers of answers', () => {
  it('are those of OpenAI by default', async () => {
    const { told, rejected } = await headersOf();
    expect(told).toEqual({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '2s',
    });
    expect(rejected).toEqual({ ...told, 'retry-after-ms': '2000', 'retry-after': '2' });
    expect(await headersOf('openai')).toEqual({ told, rejected });
  });

  it('are those of Anthropic, with times relative to their date', async () => {
    const { told, rejected } = await headersOf('anthropic');
    expect(told).toEqual({
      date: 'Wed, 01 Jan 2025 00:00:00 GMT',
      'anthropic-ratelimit-requests-limit': '2',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2025-01-01T00:00:02Z',
      'anthropic-ratelimit-output-tokens-limit': '100',
      'anthropic-ratelimit-output-tokens-remaining': '95',
      'anthropic-ratelimit-output-tokens-reset': '2025-01-01T00:00:01Z',
    });
    expect(rejected).toEqual({ ...told, 'retry-after': '2' });
  });

  it('tell nothing but how long to wait', async () => {
    const { told, rejected } = await headersOf('retry-after');
    expect(told).toEqual({});
    expect(rejected).toEqual({ 'retry-after-ms': '2000', 'retry-after': '2' });
  });

  it('tell nothing at all', async () => {
    expect(await headersOf('none')).toEqual({ told: {}, rejected: {} });
  });

  it('are those of when the limits were looked at, however late the answer comes', async () => {
    const clock = new ManualClock();
    const provider = createProvider({
      clock,
      headers: 'anthropic',
      latency: 5000,
      limits: [{ ...limit, unit: 'requests' }],
    });
    const answer = provider.submitOrThrow(request);
    await clock.advanceAsync(5000);
    const { headers } = await answer;
    expect(headers.date).toBe('Wed, 01 Jan 2025 00:00:05 GMT');
    expect(headers['anthropic-ratelimit-requests-reset']).toBe('2025-01-01T00:00:02Z');
  });

  it('must be known', () => {
    const options = JSON.parse('{"headers": "azure"}');
    expect(() => createProvider(options)).toThrow('`headers` must be');
  });
});
