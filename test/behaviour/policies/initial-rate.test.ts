import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { createProvider, ManualClock, seededRandom } from '../../../src/simulator/index.ts';

const PER_SECOND = 20;

/** Sends for a minute to a provider that takes 20 requests a second and saves 10. */
async function minute(initialPerSecond?: number) {
  const clock = new ManualClock();
  const provider = createProvider({
    clock,
    latency: 50,
    retryAfter: 'none',
    limits: [
      {
        unit: 'requests',
        algorithm: 'token-bucket',
        limit: PER_SECOND,
        windowMs: 1_000,
        burst: 10,
        advertised: false,
      },
    ],
  });
  const limiter = createLimiter({
    clock,
    random: seededRandom(1),
    telemetry: false,
    adaptive: { strategy: 'rate', initialPerSecond },
  });
  let [accepted, rejected] = [0, 0];
  const send = async () => {
    const { status } = await provider.submit({ inputTokens: 1, maxTokens: 1 });
    if (status === 200) accepted += 1;
    else {
      rejected += 1;
      throw Object.assign(new Error('too many'), { status });
    }
  };
  for (let request = 0; request < 4_000; request += 1) limiter.run(send).catch(() => {});
  await clock.advanceAsync(60_000);
  const snapshot = limiter.snapshot();
  limiter.close();
  return { accepted, rejected, rate: snapshot.adaptive };
}

describe('a rate to begin with', () => {
  it('keeps a provider full from the start, without the rejections that learning costs', async () => {
    const unknown = await minute();
    const known = await minute(PER_SECOND);
    expect(unknown.rejected).toBeGreaterThan(20);
    expect(known.rejected).toBeLessThanOrEqual(unknown.rejected / 2);
    expect(known.accepted).toBeGreaterThanOrEqual(0.98 * 60 * PER_SECOND);
    expect(known.rate).toMatchObject({ origin: 'learned' });
  });

  it('that is too low grows, and one that is too high falls', async () => {
    const low = await minute(PER_SECOND / 4);
    expect(low.accepted).toBeGreaterThanOrEqual(0.78 * 60 * PER_SECOND);
    expect(low.rate).toMatchObject({ perSecond: expect.closeTo(PER_SECOND, -0.5) });
    const high = await minute(PER_SECOND * 4);
    expect(high.accepted).toBeGreaterThanOrEqual(0.95 * 60 * PER_SECOND);
    expect(high.rejected).toBeLessThanOrEqual(40);
  });

  it('belongs to the strategy of the rate, and must be a number', () => {
    const wrong = { strategy: 'latency', initialPerSecond: 3 } as never;
    expect(() => createLimiter({ adaptive: wrong })).toThrow(
      '`adaptive.initialPerSecond` belongs to the strategy "rate", not "latency"; got 3',
    );
    expect(() => createLimiter({ adaptive: { strategy: 'rate', initialPerSecond: 0 } })).toThrow(
      '`adaptive.initialPerSecond` must be a finite number >= 0.001, got 0',
    );
  });
});
