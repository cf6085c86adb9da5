import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExponentialAverage, Gradient, type GradientSample } from '../../src/policies/gradient.ts';
import type { GradientOptions } from '../../src/policies/gradient-options.ts';

const SECOND = 1_000;

/** Windows of ten equal samples each; returns the limit after each window. */
function windows(gradient: Gradient, from: number, count: number, sample: Partial<GradientSample>) {
  return Array.from({ length: count }, (_, index) => {
    const end = (from + index + 1) * SECOND;
    for (let left = 9; left >= 0; left--) {
      const inFlight = gradient.limit;
      gradient.sample({ latencyMs: 100, inFlight, dropped: false, ...sample }, end - left);
    }
    return gradient.limit;
  });
}

/** The first sample opens the first window; from here on `windows` fills whole ones. */
function opened(options: Partial<GradientOptions> = {}): Gradient {
  const gradient = new Gradient({ maxLimit: 200, ...options });
  gradient.sample({ latencyMs: 100, inFlight: gradient.limit, dropped: false, tokens: 1 }, 0);
  return gradient;
}

/**
 * A server that works on `units` at once; the rest queues. Everything the limit lets in is sent.
 */
function serve(
  gradient: Gradient,
  units: number,
  seconds: number,
  from = 0,
  eachMs = 100,
): number[] {
  const limits: number[] = [];
  for (let second = from; second < from + seconds; second++) {
    const inFlight = gradient.limit;
    const latencyMs = eachMs * Math.max(1, inFlight / units);
    for (let ms = 0; ms < SECOND; ms += 50) {
      gradient.sample({ latencyMs, inFlight, dropped: false }, second * SECOND + ms);
    }
    limits.push(gradient.limit);
  }
  return limits;
}

describe('the latency gradient', () => {
  it('grows the limit by a fifth of its square root a window while latency is even', () => {
    const gradient = opened({ initialLimit: 100 });
    expect(windows(gradient, 0, 3, {})).toEqual([102, 104, 106]);
    const fixed = opened({ initialLimit: 100, queueSize: 50 });
    expect(windows(fixed, 0, 2, {})).toEqual([110, 120]);
  });

  it('bears half as much latency again, and shrinks beyond that', () => {
    const options = { initialLimit: 100, queueSize: 0 };
    const even = opened(options);
    windows(even, 0, 60, {});
    expect(windows(even, 60, 1, { latencyMs: 145 })).toEqual([100]);
    const steep = opened(options);
    windows(steep, 0, 60, {});
    // 1.5 x 100 / 300 is a gradient of 1/2 (and a little more, for the average has grown too).
    expect(windows(steep, 60, 1, { latencyMs: 300 })).toEqual([90]);
  });

  it('takes no more than half of the limit for an outlier, smoothed to a tenth', () => {
    const gradient = opened({ initialLimit: 100, queueSize: 0 });
    windows(gradient, 0, 60, {});
    expect(windows(gradient, 60, 1, { latencyMs: 1e6 })).toEqual([90]);
  });

  it('lets requests that do not fill half of the limit change nothing', () => {
    const gradient = opened({ initialLimit: 100 });
    expect(windows(gradient, 0, 5, { inFlight: 49 })).toEqual([102, 102, 102, 102, 102]);
    expect(windows(gradient, 5, 1, { inFlight: 51 })).toEqual([104]);
  });

  it('adjusts once a second, and not before ten samples, or as many as the limit', () => {
    const gradient = opened({ initialLimit: 100 });
    const sample = { latencyMs: 100, inFlight: 100, dropped: false };
    for (let ms = 1; ms < SECOND; ms++) expect(gradient.sample(sample, ms)).toBe(100);
    expect(gradient.sample(sample, SECOND)).toBe(102);
    for (let count = 1; count < 10; count++) {
      expect(gradient.sample(sample, (5 + count) * SECOND)).toBe(102);
    }
    expect(gradient.sample(sample, 20 * SECOND)).toBe(104);
    const small = opened({ initialLimit: 2, queueSize: 5 });
    expect(small.sample({ ...sample, inFlight: 2 }, SECOND)).toBe(3);
  });

  it('soon takes a lower latency for the usual one after a long time of high latency', () => {
    const gradient = opened();
    windows(gradient, 0, 100, { latencyMs: 1_000 });
    windows(gradient, 100, 20, { latencyMs: 100 });
    const { longLatencyMs = 0, shortLatencyMs } = gradient.snapshot();
    expect(shortLatencyMs).toBeCloseTo(100);
    expect(longLatencyMs).toBeLessThan(250);
  });

  it('compares latency a token where asked to, so that long answers are no sign of load', () => {
    const long = { latencyMs: 5_000, tokens: 50 };
    const perToken = opened({ initialLimit: 100, queueSize: 0, per: 'token' });
    windows(perToken, 0, 60, { tokens: 1 });
    expect(windows(perToken, 60, 2, long)).toEqual([100, 100]);
    expect(windows(perToken, 62, 2, { latencyMs: 5_000, tokens: 0 })).toEqual([100, 100]);
    const perRequest = opened({ initialLimit: 100, queueSize: 0 });
    windows(perRequest, 0, 60, { tokens: 1 });
    expect(windows(perRequest, 60, 1, long)).toEqual([90]);
  });

  it('finds the number of requests that a server works on at once, and keeps to it for an hour', () => {
    for (const [units, initialLimit] of [
      [4, 2],
      [30, 20],
      [100, 20],
    ] as const) {
      const gradient = new Gradient({ maxLimit: 1_000, initialLimit });
      const hour = serve(gradient, units, 3_600).slice(240);
      expect(Math.min(...hour)).toBeGreaterThanOrEqual(units);
      expect(Math.max(...hour)).toBeLessThanOrEqual(units * 2.5);
    }
  });

  it('learns that a server has become slower for good, and fills it again', () => {
    const gradient = new Gradient({ maxLimit: 1_000 });
    serve(gradient, 50, 600);
    const limits = serve(gradient, 50, 1_800, 600, 300);
    expect(Math.min(...limits)).toBeLessThan(25);
    expect(limits.at(-1)).toBeGreaterThanOrEqual(50);
  });

  it('follows a server that loses most of its units', () => {
    const gradient = new Gradient({ maxLimit: 400 });
    const before = serve(gradient, 100, 240).at(-1) ?? 0;
    const after = serve(gradient, 20, 60, 240).at(-1) ?? 0;
    expect(after).toBeLessThan(before / 2);
  });
});

describe('drops', () => {
  const drop = (latencyMs: number) => ({ latencyMs, inFlight: 1, dropped: true });

  it('cut the limit at once, however few are in flight', () => {
    const gradient = new Gradient({ maxLimit: 200, initialLimit: 100 });
    expect(gradient.sample(drop(50), SECOND)).toBe(90);
    const harder = new Gradient({ maxLimit: 200, initialLimit: 100, backoffRatio: 0.5 });
    expect(harder.sample(drop(50), SECOND)).toBe(50);
  });

  it('count once a round trip: those sent before the last cut are old news', () => {
    const gradient = new Gradient({ maxLimit: 200, initialLimit: 100 });
    const burst = [1_000, 1_001, 1_050].map((now) => gradient.sample(drop(50), now));
    expect(burst).toEqual([90, 90, 90]);
    expect(gradient.sample(drop(50), 1_051)).toBe(81);
  });

  it('end at the lowest limit, and are no sample of latency', () => {
    const gradient = new Gradient({ maxLimit: 200, minLimit: 7, initialLimit: 9 });
    for (let now = 1; now < 20; now++) gradient.sample(drop(0), now);
    expect(gradient.limit).toBe(7);
    expect(gradient.snapshot()).toEqual({
      limit: 7,
      minLimit: 7,
      maxLimit: 200,
      shortLatencyMs: undefined,
      longLatencyMs: undefined,
    });
  });
});

describe('the limit', () => {
  it('is a whole number between its bounds, whatever is sampled', () => {
    const sample = fc.record({
      afterMs: fc.nat(2_000),
      latencyMs: fc.oneof(fc.constantFrom(0, 5e-324, Number.MAX_SAFE_INTEGER), fc.nat(10_000)),
      inFlight: fc.nat(300),
      dropped: fc.boolean(),
      tokens: fc.option(fc.nat(1_000), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.nat(100),
        fc.constantFrom('request' as const, 'token' as const),
        fc.array(sample, { maxLength: 200, size: 'max' }),
        (minLimit, more, per, samples) => {
          const maxLimit = minLimit + more;
          const gradient = new Gradient({ minLimit, maxLimit, per, windowMs: 100 });
          let now = 0;
          for (const { afterMs, ...rest } of samples) {
            now += afterMs;
            const limit = gradient.sample(rest, now);
            expect(limit).toBe(gradient.limit);
            expect(Number.isInteger(limit) && limit >= minLimit && limit <= maxLimit).toBe(true);
          }
        },
      ),
    );
  });

  it('grows to its maximum and no further, even where latency is nothing', () => {
    const gradient = new Gradient({ maxLimit: 25 });
    expect(windows(gradient, 0, 60, { latencyMs: 0 }).at(-1)).toBe(25);
  });

  it('starts at 20, or as near as it may', () => {
    const start = (options: GradientOptions) => new Gradient(options).limit;
    expect(start({ maxLimit: 400 })).toBe(20);
    expect(start({ maxLimit: 5 })).toBe(5);
    expect(start({ maxLimit: 400, minLimit: 50 })).toBe(50);
  });

  it('is refused with options and samples that are none', () => {
    const make = (options: object) => () => new Gradient({ maxLimit: 10, ...options });
    expect(make({ maxLimit: 0 })).toThrow('`maxLimit` must be an integer >= 1, got 0');
    expect(make({ minLimit: 11 })).toThrow('`minLimit` must be a number from 1 to 10, got 11');
    expect(make({ initialLimit: 2.5 })).toThrow('`initialLimit`');
    expect(make({ tolerance: 0.9 })).toThrow('`tolerance` must be a finite number >= 1, got 0.9');
    expect(make({ smoothing: 2 })).toThrow('`smoothing`');
    expect(make({ backoffRatio: '0.9' })).toThrow(TypeError);
    expect(make({ queueSize: -1 })).toThrow('`queueSize`');
    expect(make({ windowMs: Number.NaN })).toThrow('`windowMs`');
    expect(make({ per: 'byte' })).toThrow('`per` must be one of "request", "token", got "byte"');
    const sample = { latencyMs: 1, inFlight: 1, dropped: false };
    for (const wrong of [{ latencyMs: Number.NaN }, { inFlight: -1 }, { tokens: Infinity }]) {
      expect(() => make({})().sample({ ...sample, ...wrong }, 0)).toThrow(RangeError);
    }
  });
});

it('an exponential average is a plain mean of ten, then forgets', () => {
  const average = new ExponentialAverage(19);
  for (const value of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) average.add(value);
  expect(average.value).toBeCloseTo(5.5);
  average.add(15.5);
  expect(average.value).toBeCloseTo(6.5);
});
