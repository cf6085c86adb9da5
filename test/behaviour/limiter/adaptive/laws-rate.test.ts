import { describe, expect, it } from 'vitest';
import { between, limit, SILENT, saturate, world } from '../../../limiter/adaptive/world.ts';
import { isLong } from '../../../support/runs.ts';

const latency = { meanMs: 300, sigma: 0.3 };

describe('rejections that do not depend on the rate', () => {
  /** What is accepted of 50 a second, and what the limit itself rejects of that, both as parts. */
  async function used(percent: number, status: 429 | 503, seed: number, headers?: 'openai') {
    const limits = [limit('token-bucket', 50, 1_000)];
    const provider = { limits, latency, ...SILENT, ...(headers && { headers }) };
    const run = await saturate({ provider, chance: { part: percent / 100, status }, seed }, 300);
    const { accepted, rejected } = between(run.provider.stats(), 60, 300);
    await run.end();
    return { used: accepted / (240 * 50), rejected: rejected / accepted };
  }

  it.each([
    [429, 3],
    [503, 1],
    ...(isLong ? [[429, 1] as const, [429, 4] as const, [429, 13] as const] : []),
  ] as const)(
    '1 of a hundred, by %i: 0.8 of what the provider takes is used, with seed %i',
    async (status, seed) => {
      const run = await used(1, status, seed);
      expect(run.used).toBeGreaterThan(0.8);
      // What the limit itself rejects stays as little as ever.
      expect(run.rejected).toBeLessThan(0.02);
    },
  );

  it.each([
    [3, 429, 'nothing', 0.6],
    [10, 503, 'nothing', 0.9],
    [10, 503, 'limits', 0.95],
    [40, 503, 'limits', 0.5],
    ...(isLong
      ? ([
          [3, 503, 'nothing', 0.9],
          [20, 503, 'limits', 0.9],
        ] as const)
      : []),
  ] as const)(
    '%i of a hundred, by %i, while answers tell %s: %d of what the provider takes is used',
    async (percent, status, told, least) => {
      const headers = told === 'limits' ? 'openai' : undefined;
      const runs: Awaited<ReturnType<typeof used>>[] = [];
      for (let seed = 1; seed <= 6; seed += 1) {
        runs.push(await used(percent, status, seed, headers));
      }
      expect(runs.reduce((sum, run) => sum + run.used, 0) / 6).toBeGreaterThan(least);
      // Rejections of the limit come on top of the share, which hides them for some time.
      for (const run of runs) expect(run.rejected).toBeLessThan(0.02);
    },
  );
});

describe('rejections by chance beside an unknown limit, both by bare 429s', () => {
  it.each([
    [3, 20, 20, 0.7],
    [5, 20, 20, 0.85],
    [10, 20, 20, 0.85],
    [20, 20, 20, 0.8],
    // A limit that saves less lets fewer requests of a trial through.
    [10, 20, 5, 0.6],
    ...(isLong
      ? ([
          [5, 20, 5, 0.6],
          [10, 20, 1, 0.4],
          [20, 3, 3, 0.4],
        ] as const)
      : []),
  ] as const)(
    '%i of a hundred, %i a second with a burst of %i: %d of what the limit takes is used',
    async (percent, perSecond, burst, least) => {
      const limits = [{ ...limit('token-bucket', perSecond, 1_000), burst }];
      const chance = { part: percent / 100, status: 429 } as const;
      let used = 0;
      for (let seed = 1; seed <= 3; seed += 1) {
        const run = await saturate(
          { provider: { limits, latency, ...SILENT }, chance, seed },
          1_800,
        );
        used += between(run.provider.stats(), 450, 1_800).accepted / (1_350 * perSecond);
        await run.end();
      }
      expect(used / 3).toBeGreaterThan(least);
    },
    60_000,
  );
});

describe('an API without a limit that rejects at random', () => {
  const CONCURRENCY = 16;
  const REJECTED_MS = 20;

  it.each([
    [10, 429, 0.9],
    [20, 503, 0.65],
    ...(isLong
      ? ([
          [10, 503, 0.78],
          [20, 429, 0.8],
          [30, 429, 0.5],
          [30, 503, 0.4],
        ] as const)
      : []),
  ] as const)(
    '%i of a hundred, by %i: %d of its capacity is used',
    async (percent, status, least) => {
      const part = percent / 100;
      let used = 0;
      let known = 0;
      for (let seed = 1; seed <= 2; seed += 1) {
        const options = { concurrency: CONCURRENCY };
        const provider = { limits: [], latency, ...SILENT };
        const run = await saturate({ provider, options, chance: { part, status }, seed }, 400);
        const { accepted } = between(run.provider.stats(), 200, 400);
        const adaptive = run.limiters[0]?.snapshot().adaptive ?? {};
        if ('rejectedByChance' in adaptive)
          known = Math.max(known, Number(adaptive.rejectedByChance));
        await run.end();
        const meanMs = latency.meanMs * (1 - part) + REJECTED_MS * part;
        used += accepted / 200 / ((CONCURRENCY / meanMs) * 1_000 * (1 - part));
      }
      expect(used / 2).toBeGreaterThan(least);
      expect(known).toBeGreaterThan(part / 2);
    },
  );
});

describe('an API without a limit that rejects at random and names a wait', () => {
  const CONCURRENCY = 16;

  it.each([
    [2, 1, 429, 0.9],
    [4, 5, 429, 0.6],
    [3, 1, 503, 0.9],
    [15, 1, 429, 0.6],
    [25, 1, 503, 0.65],
    ...(isLong
      ? ([
          [25, 1, 429, 0.65],
          [1, 1, 429, 0.7],
          [5, 1, 429, 0.7],
          [2, 7.3, 429, 0.6],
        ] as const)
      : []),
  ] as const)(
    '%i of a hundred, %d s, by %i: %d of what obeying each wait leaves is used',
    async (percent, retryAfter, status, least) => {
      const part = percent / 100;
      const options = { concurrency: CONCURRENCY };
      const provider = { limits: [], latency, ...SILENT };
      let used = 0;
      for (let seed = 1; seed <= 4; seed += 1) {
        const chance = { part, status, retryAfter };
        const run = await saturate({ provider, options, chance, seed }, 1_200);
        const { accepted } = between(run.provider.stats(), 400, 1_200);
        await run.end();
        const msEach = latency.meanMs / CONCURRENCY + (part / (1 - part)) * retryAfter * 1_000;
        used += (accepted * msEach) / 800_000;
      }
      expect(used / 4).toBeGreaterThan(least);
    },
  );
});

describe('what happens is dated by when it was sent', () => {
  it.each([
    ['1,000 a second', 1_000, 200, 10, 15, 0.8],
    ['20 a second, answered in 5 ms', 20, 5, 5, 200, 0.97],
    ['20 a second, answered in 800 ms and rejected in 5 ms', 20, 800, 5, 200, 0.97],
    ['20 a second, rejected in 2 s', 20, 100, 2_000, 200, 0.95],
    ['20 a second, rejected now sooner and now later than answered', 20, 400, 700, 200, 0.95],
  ])('%s', async (_, perSecond, meanMs, rejectMs, seconds, used) => {
    const rejectLatencyMs = { meanMs: rejectMs, sigma: 0.5 };
    const limits = [limit('token-bucket', perSecond, 1_000)];
    const provider = { limits, latency: { meanMs, sigma: 0.5 }, rejectLatencyMs, ...SILENT };
    const run = await saturate({ provider, options: { concurrency: 2_000 } }, seconds);
    const from = seconds / 3;
    const { accepted, rejected } = between(run.provider.stats(), from, seconds);
    expect(accepted).toBeGreaterThan(used * perSecond * (seconds - from));
    expect(rejected).toBeLessThan(0.2 * accepted);
    await run.end();
  });
});

describe('time without demand is no evidence', () => {
  it('bursts after idle time take no longer than the provider makes them', async () => {
    const provider = { limits: [limit('token-bucket', 100, 10_000)], latency, ...SILENT };
    const run = world({ provider });
    const tookMs: number[] = [];
    for (let n = 1; n <= 20; n += 1) {
      const from = run.clock.now();
      run.push(150);
      while ((run.answered[0] ?? 0) < 150 * n) await run.advance(100);
      tookMs.push(run.clock.now() - from);
      await run.advance(20_000);
    }
    // A hundred are saved, fifty come in five seconds. What is saved is tried: then less of it is
    // used.
    const later = tookMs.slice(5);
    expect(later.reduce((a, b) => a + b, 0) / later.length).toBeLessThan(1.8 * 5_300);
    await run.end();
  });

  it.each([
    { saves: 1, windowMs: 1_000, burst: 4, load: 0.7 },
    { saves: 1, windowMs: 2_000, burst: 6, load: 0.4 },
    { saves: 2, windowMs: 500, burst: 7, load: 0.6 },
  ])(
    'a provider that saves no more than $saves is used to the full by bursts of $burst',
    async ({ saves, windowMs, burst, load }) => {
      const run = world({
        provider: {
          limits: [limit('token-bucket', saves, saves * windowMs)],
          latency: 50,
          ...SILENT,
        },
      });
      const lateFrom = 150;
      let tookMs = 0;
      for (let n = 1; n <= 200; n += 1) {
        const from = run.clock.now();
        run.push(burst);
        while ((run.answered[0] ?? 0) < burst * n) await run.advance(windowMs / 20);
        if (n > lateFrom) tookMs += run.clock.now() - from;
        await run.advance(Math.max(0, from + (burst * windowMs) / load - run.clock.now()));
      }
      const bestMs = (burst - saves) * windowMs + 50;
      expect(tookMs / (200 - lateFrom)).toBeLessThan(1.3 * bestMs);
      const { accepted, rejected } = run.provider.stats();
      expect(rejected / accepted).toBeLessThan(0.1);
      await run.end();
    },
  );

  it.each([
    [429, 'bare', SILENT],
    [503, 'bare', SILENT],
    [503, 'reporting', { headers: 'openai' }],
  ] as const)(
    'an outage that is told by %i, %s answers, leaves the rate as it was',
    async (status, _, told) => {
      const storms = [{ fromMs: 120_000, toMs: 180_000, status }];
      const provider = { limits: [limit('token-bucket', 100, 10_000)], latency, storms, ...told };
      const run = await saturate({ provider }, 360);
      // The last probe of the outage is 30 s before the next at the most.
      const { accepted } = between(run.provider.stats(), 211, 360);
      expect(accepted).toBeGreaterThan(0.98 * 149 * 10);
      await run.end();
    },
  );

  it('an outage does not fill a bucket further than it was ever full', async () => {
    const storms = [{ fromMs: 120_000, toMs: 140_000, status: 503 }] as const;
    const bucket = { ...limit('token-bucket', 600, 60_000), burst: 100 };
    const provider = { limits: [bucket], latency, storms, headers: 'openai' } as const;
    const run = await saturate({ provider }, 180);
    const { accepted, rejected } = between(run.provider.stats(), 140, 180);
    expect(accepted).toBeGreaterThan(100 + 0.9 * 30 * 10);
    expect(rejected).toBe(0);
    await run.end();
  });

  it('a cap is believed as before after an outage', async () => {
    const storms = [{ fromMs: 60_000, toMs: 120_000, status: 503 }] as const;
    const concurrency = { units: 8, queue: 0, status: 503 } as const;
    const provider = { concurrency, latency: { meanMs: 500, sigma: 0.2 }, storms, ...SILENT };
    const run = await saturate({ provider }, 55);
    const cap = () => run.limiters[0]?.snapshot().adaptive?.limit;
    await run.advance(120_000);
    expect(cap()).toBeGreaterThanOrEqual(7);
    await run.end();
  });
});

describe('what a provider saves is used', () => {
  const told = {
    limits: { requests: { limit: 100, windowMs: 10_000, algorithm: 'token-bucket' } },
  };
  it.each([
    ['learned', {}, 60, SILENT],
    ['configured', told, 100, SILENT],
    ['told by answers', {}, 90, { headers: 'openai' }],
    ['configured, and told by answers', told, 90, { headers: 'openai' }],
  ] as const)('at once after idle time, where it was %s', async (_, options, least, telling) => {
    const provider = { limits: [limit('token-bucket', 100, 10_000)], latency: 50, ...telling };
    const run = world({ provider, options: options as object });
    run.push(1_000);
    while ((run.answered[0] ?? 0) < 1_000) await run.advance(1_000);
    let burst = 0;
    for (let n = 0; n < 8; n += 1) {
      await run.advance(30_000);
      const before = run.answered[0] ?? 0;
      run.push(100);
      await run.advance(500);
      burst = (run.answered[0] ?? 0) - before;
      await run.advance(30_000);
    }
    expect(burst).toBeGreaterThanOrEqual(least);
    await run.end();
  });

  it('at once where it was configured, though a request was rejected before', async () => {
    const limits = [limit('token-bucket', 100, 10_000)];
    const storms = [{ fromMs: 0, toMs: 1, status: 429 }] as const;
    const provider = { limits, latency: 50, storms, ...SILENT };
    const run = world({ provider, options: told as object });
    run.push(400);
    while ((run.answered[0] ?? 0) < 400) await run.advance(1_000);
    expect(run.limiters[0]?.snapshot().adaptive).toMatchObject({ origin: 'limit' });
    await run.advance(60_000);
    run.push(100);
    await run.advance(500);
    expect(run.answered[0]).toBe(500);
    await run.end();
  });
});
