import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { createProvider } from '../../src/simulator/provider.ts';
import type { ProviderOptions } from '../../src/simulator/provider-options.ts';

const request = { inputTokens: 10, maxTokens: 5 };
const window = { unit: 'requests', algorithm: 'sliding-window', windowMs: 1000 } as const;

function setUp(options: ProviderOptions) {
  const clock = new ManualClock();
  return { clock, provider: createProvider({ clock, ...options }) };
}

describe('waitMs', () => {
  it('is the time after which a request is let in, and not a moment more', () => {
    const { clock, provider } = setUp({ limits: [{ ...window, limit: 1 }] });
    expect(provider.waitMs(request)).toBe(0);
    provider.submit(request);
    clock.advance(300);
    expect(provider.waitMs(request)).toBe(700);
    clock.advance(700);
    expect(provider.waitMs(request)).toBe(0);
    provider.submit(request);
    expect(provider.stats()).toMatchObject({ accepted: 2, rejected: 0 });
  });

  it('charges nothing, even where rejections count', () => {
    const { clock, provider } = setUp({
      limits: [{ ...window, limit: 1 }],
      countRejected: true,
    });
    provider.submit(request);
    clock.advance(500);
    for (let times = 0; times < 5; times++) expect(provider.waitMs(request)).toBe(500);
    expect(provider.stats()).toMatchObject({ submitted: 1, rejected: 0 });
  });

  it('takes the longest of all reasons', () => {
    const { provider } = setUp({
      limits: [
        { ...window, limit: 1 },
        { ...window, unit: 'tokens', limit: 20, windowMs: 3000 },
      ],
      storms: [{ fromMs: 0, toMs: 2000 }],
    });
    expect(provider.waitMs(request)).toBe(2000);
    expect(provider.waitMs({ ...request, maxTokens: 50 })).toBe(Number.POSITIVE_INFINITY);
  });

  it('lasts to the end of storms that overlap', () => {
    const { provider } = setUp({
      storms: [
        { fromMs: 0, toMs: 2000 },
        { fromMs: 1000, toMs: 4000 },
      ],
    });
    expect(provider.waitMs(request)).toBe(4000);
  });

  it('is 1 while only an answer can make room', async () => {
    const { clock, provider } = setUp({ concurrency: { units: 1, queue: 0 }, latency: 500 });
    const answer = provider.submit(request);
    expect(provider.waitMs(request)).toBe(1);
    clock.advance(500);
    await answer;
    expect(provider.waitMs(request)).toBe(0);
  });

  it('refuses malformed requests', () => {
    const { provider } = setUp({});
    expect(() => provider.waitMs({ ...request, inputTokens: -1 })).toThrow('`inputTokens`');
  });
});
