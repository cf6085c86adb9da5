import { describe, expect, it } from 'vitest';
import {
  between,
  limit,
  type Rate,
  SILENT,
  saturate,
  world,
} from '../../../limiter/adaptive/world.ts';
import { isLong } from '../../../support/runs.ts';

const FOUR_HUNDRED = { limit: 400, windowMs: 10_000 } as const;
const START = { strategy: 'rate', initialLimit: 4 } as const;
const latency = { meanMs: 300, sigma: 0.3 };

describe('the start', () => {
  it.each([50, 200, 1_000])(
    '%i requests to a provider of 20 a second end within 1.15 times the ideal, with few 429s',
    async (count) => {
      const limits = [limit('token-bucket', 20, 1_000)];
      const run = world({ provider: { limits, latency: 200, ...SILENT } });
      run.push(count);
      while ((run.answered[0] ?? 0) < count) await run.advance(50);
      const idealMs = Math.max(0, (count - 20) / 20) * 1_000 + 200;
      expect(run.clock.now()).toBeLessThan(1.15 * idealMs + 1_000);
      // 16 are out before the first rejection can come, and twice as many are after the first
      // answers.
      expect(run.provider.stats().rejected).toBeLessThanOrEqual(20 + 2 * 16);
      await run.end();
    },
  );
});

/** How alike the shares of some processes are in the last half of a run, and what they reach. */
async function shares(
  workers: number,
  headers: 'openai' | 'none',
  seed: number,
  algorithm: Rate = 'token-bucket',
  apartMs = 0,
) {
  const limits = [limit(algorithm, 400, 10_000)];
  const provider = { limits, latency, headers, retryAfter: 'none' } as const;
  const run = world({ provider, workers, seed });
  for (let worker = 0; worker < workers; worker += 1) {
    run.push(60_000, [worker].values());
    await run.advance(apartMs);
  }
  await run.advance(600_000 - run.clock.now());
  const before = [...run.answered];
  await run.advance(600_000);
  const { accepted, rejected } = between(run.provider.stats(), 600, 1_200);
  const parts = run.answered.map((answered, worker) => answered - (before[worker] ?? 0));
  await run.end();
  const ratio = Math.max(...parts) / Math.min(...parts);
  return { ratio, used: accepted / (600 * 40), rejectedPart: rejected / accepted };
}

describe('several processes with one key', () => {
  // Where nothing tells the whole limit, each grows and is cut in proportion to its own share:
  // nothing makes shares alike. With 32, one has a request in 0.8 s, and few stops to come to its
  // share.
  const few = [
    [2, 'openai', 'token-bucket', 1.2, 2, 0.95, 0.01, 7],
    [2, 'openai', 'fixed-window', 1.5, 2, 0.93, 0.01, 7],
    [2, 'openai', 'sliding-window', 1.5, 2, 0.95, 0.01, 7],
    [8, 'openai', 'token-bucket', 2, 2, 0.95, 0.02, 5],
    [8, 'openai', 'fixed-window', 2, 2.3, 0.95, 0.025, 5],
    [8, 'openai', 'sliding-window', 2, 2, 0.95, 0.02, 5],
    [2, 'none', 'token-bucket', 2.1, 3.1, 0.95, 0.02, 5],
    [8, 'none', 'token-bucket', 6, 13, 0.95, 0.05, 5],
    [8, 'none', 'fixed-window', 6, 9, 0.95, 0.06, 5],
  ] as const;
  const many = [[32, 'openai', 'token-bucket', 10, 12, 0.95, 0.06, 2]] as const;
  it.each([...few, ...(isLong ? many : [])])(
    '%i, by headers %s, at a %s: max / min is below %f, at worst %f; %f is used',
    async (workers, headers, algorithm, median, worst, used, rejectedPart, all) => {
      const seeds = isLong ? all : Math.ceil(all / 7);
      const runs: Awaited<ReturnType<typeof shares>>[] = [];
      for (let seed = 1; seed <= seeds; seed += 1) {
        runs.push(await shares(workers, headers, seed, algorithm));
      }
      const ratios = runs.map(({ ratio }) => ratio).sort((a, b) => a - b);
      expect(ratios[Math.floor(seeds / 2)]).toBeLessThan(median);
      expect(ratios.at(-1)).toBeLessThan(worst);
      for (const run of runs) {
        expect(run.used).toBeGreaterThan(used);
        expect(run.rejectedPart).toBeLessThan(rejectedPart);
      }
    },
  );

  it.each([
    [2, 'fixed-window', 3_000, 2],
    [2, 'fixed-window', 15_000, 2],
    [2, 'fixed-window', 21_000, 2],
    [8, 'fixed-window', 2_300, 2.3],
    [2, 'sliding-window', 3_000, 2],
    [2, 'token-bucket', 3_000, 3],
    ...(isLong
      ? ([
          [2, 'fixed-window', 1_000, 2.5],
          [2, 'fixed-window', 33_000, 2],
          [2, 'fixed-window', 50_000, 2],
          [2, 'fixed-window', 61_000, 2],
          [2, 'token-bucket', 15_000, 3],
          [2, 'token-bucket', 61_000, 3],
          [8, 'token-bucket', 2_300, 6],
          [8, 'token-bucket', 9_100, 6],
          [8, 'fixed-window', 7_100, 2.5],
          [8, 'sliding-window', 2_300, 4],
        ] as const)
      : []),
  ] as const)(
    '%i, by headers, at a %s, that begin %i ms apart: max / min is below %f, 0.93 is used',
    async (workers, algorithm, apartMs, most) => {
      const run = await shares(workers, 'openai', 1, algorithm, apartMs);
      expect(run.ratio).toBeLessThan(most);
      expect(run.used).toBeGreaterThan(0.93);
      expect(run.rejectedPart).toBeLessThan(0.025);
    },
  );
});

describe('limits that are configured as they are', () => {
  it.each(['token-bucket', 'fixed-window', 'sliding-window'] as const)(
    'of a %s lead to no 429s, and are used to 99.5 in a hundred',
    async (algorithm) => {
      const own = limit(algorithm, 60, 6_000);
      const { unit: _, ...requests } = own;
      const provider = { limits: [own], latency, headers: 'none' } as const;
      const run = await saturate({ provider, options: { limits: { requests } } }, 240);
      const { accepted } = between(run.provider.stats(), 60, 240);
      expect(accepted).toBeGreaterThanOrEqual(0.995 * 1_800);
      expect(run.provider.stats().rejected).toBe(0);
      await run.end();
    },
  );
});

describe('a fixed window that is configured, and that begins at another time at the server', () => {
  const RESET = { headers: 'openai', retryAfter: 'none' } as const;
  const RETRY_AFTER = { headers: 'retry-after', retryAfter: 'exact' } as const;
  // Ours begins with the first request; a backlog comes shortly before its end. All that the next
  // one allows is sent at once, into what is still one window of the server, unless answers tell of
  // it.
  const cases = [
    ['its reset', 'rate', 1, RESET],
    ['Retry-After', 'rate', 59, RETRY_AFTER],
    ['nothing', 'rate', 59, SILENT],
    ['its reset', false, 59, RESET],
    ['Retry-After', false, 59, RETRY_AFTER],
    ['nothing', false, 59, SILENT],
  ] as const;
  const apart = [0.2, 0.5, 0.8].flatMap((part) => cases.map((each) => [part, ...each] as const));
  it.each(apart)(
    'by %f of a window, told %s, adaptive %s: is met once, by at most %i',
    async (part, _told, adaptive, most, headers) => {
      const own = limit('fixed-window', 60, 6_000);
      const { unit: _, ...requests } = own;
      const provider = { limits: [own], latency, ...headers };
      const run = world({ provider, options: { limits: { requests }, adaptive } });
      await run.advance((1 - part) * 6_000);
      run.push(1);
      await run.advance(0.85 * 6_000);
      run.push(100_000);
      await run.advance(240_000);
      const { rejected } = run.provider.stats();
      expect(rejected).toBeLessThanOrEqual(most);
      expect(between(run.provider.stats(), 0, 12).rejected).toBe(rejected);
      const { accepted } = between(run.provider.stats(), 60, 240);
      expect(accepted).toBeGreaterThanOrEqual(0.995 * 1_800);
      await run.end();
    },
  );
});

describe('what is known at the start', () => {
  it.each([
    ['configured', { limits: { requests: FOUR_HUNDRED } }, 300],
    ['configured on tokens', { limits: { tokens: { limit: 1e6, windowMs: 10_000 } } }, 300],
    ['not known', {}, 16],
    ['configured, with a start', { adaptive: START, limits: { requests: FOUR_HUNDRED } }, 4],
  ] as const)('is used at once: limits are %s', async (_, options, atOnce) => {
    const limits = [limit('token-bucket', 400, 10_000)];
    const run = world({ provider: { limits, latency: 300, ...SILENT }, options });
    run.push(300);
    await run.advance(100);
    expect(run.sent).toHaveLength(atOnce);
    await run.end();
  });
});

describe('a wait that is named', () => {
  it.each([50, 400, 1_500, 7_000])(
    'of %i ms is neither cut short nor much exceeded',
    async (ms) => {
      const storms = [{ fromMs: 0, toMs: ms, retryAfterMs: ms, status: 429 }] as const;
      const run = world({ provider: { storms, latency: 10, headers: 'retry-after' } });
      run.push(1);
      await run.advance(3 * ms + 1_000);
      expect(run.sent).toHaveLength(2);
      expect(run.sent[1]).toBeGreaterThanOrEqual(ms);
      expect(run.sent[1]).toBeLessThanOrEqual(1.2 * ms + 10);
      await run.end();
    },
  );
});

describe('a cap of what is in flight', () => {
  it.each([
    [8, 429],
    [40, 503],
  ] as const)('of %i, told by bare %is, is kept full to 95 in a hundred', async (units, status) => {
    const concurrency = { units, queue: 0, status };
    const provider = { concurrency, latency: { meanMs: 1_000, sigma: 0.2 }, ...SILENT };
    const run = await saturate({ provider }, 400);
    const { accepted } = between(run.provider.stats(), 200, 400);
    expect(accepted).toBeGreaterThan(0.95 * units * 200);
    await run.end();
  });
});

describe('a small cap whose answers come in step', () => {
  it.each([3, 5, 8, 12, 20, 31])('of %i is found, told by bare 503s', async (units) => {
    const concurrency = { units, queue: 0, status: 503 } as const;
    const provider = { concurrency, latency: 200, ...SILENT };
    const run = await saturate({ provider }, 60);
    const { accepted, rejected } = run.provider.stats();
    expect(rejected).toBeLessThan(100);
    expect(accepted).toBeGreaterThan(0.8 * units * 5 * 60);
    await run.end();
  });
});

describe('a cap whose rejections name a wait', () => {
  // Each rejection holds all requests back for the whole wait.
  it.each([
    [1, 503, 1_000],
    [4, 503, 1_000],
    [4, 429, 1_000],
    [13, 429, 3_000],
    [30, 503, 3_000],
  ] as const)(
    'of %i, by a %i and %i ms, is found, and seldom exceeded',
    async (units, status, retryAfter) => {
      const concurrency = { units, queue: 0, status };
      const named = { headers: 'retry-after', retryAfter } as const;
      const provider = { concurrency, latency: { meanMs: 600, sigma: 0.3 }, ...named };
      const run = await saturate({ provider }, 600);
      const { accepted, rejected } = between(run.provider.stats(), 120, 600);
      expect(accepted).toBeGreaterThan((0.94 * units * 480) / 0.6);
      expect(rejected * retryAfter).toBeLessThan(0.05 * 480_000);
      await run.end();
    },
  );

  // A rate rejects by 503 seldom, by 429 often.
  it.each([
    [503, 2, 3],
    [429, 4, 6],
  ] as const)('by a %i is known after %i to %i stops', async (status, least, most) => {
    for (const seed of [1, 2, 3]) {
      const concurrency = { units: 12, queue: 0, status };
      const named = { headers: 'retry-after', retryAfter: 1_000 } as const;
      const run = world({
        provider: { concurrency, latency: { meanMs: 600, sigma: 0.3 }, ...named },
        seed,
      });
      run.push(5_000);
      const stops = new Set<number>();
      const isKnown = () => {
        const { adaptive } = run.limiters[0]?.snapshot() ?? {};
        return adaptive !== undefined && 'cap' in adaptive && adaptive.cap !== undefined;
      };
      for (let n = 0; n < 60 && !isKnown(); n += 1) {
        await run.advance(500);
        stops.add(run.provider.stats().rejected);
      }
      stops.delete(0);
      expect(isKnown()).toBe(true);
      expect(stops.size).toBeGreaterThanOrEqual(least);
      expect(stops.size).toBeLessThanOrEqual(most);
      await run.end();
    }
  });
});

describe('what is believed is explained', () => {
  it('by the share that is rejected by chance, where the rate does not bear on it', async () => {
    const limits = [limit('token-bucket', 50, 1_000)];
    const chance = { part: 0.1, status: 503 } as const;
    const run = await saturate({ provider: { limits, latency, ...SILENT }, chance }, 200);
    expect(run.limiters[0]?.snapshot().adaptive).toMatchObject({
      ceilingPerSecond: expect.closeTo(50, -1),
      rejectedByChance: expect.closeTo(0.1, 1),
    });
    await run.end();
  });

  it('by the snapshot at each moment: a rate with bounds and evidence, or a cap, and since when', async () => {
    const limits = [limit('token-bucket', 50, 1_000)];
    const run = await saturate({ provider: { limits, latency, ...SILENT } }, 60);
    expect(run.limiters[0]?.snapshot().adaptive).toMatchObject({
      origin: 'learned',
      ceilingPerSecond: expect.closeTo(50, 0),
      leastPerSecond: expect.closeTo(50, 0),
      mostPerSecond: expect.closeTo(50, 0),
      evidence: expect.any(Number),
      sinceCutMs: expect.any(Number),
      cap: undefined,
      isOut: false,
    });
    await run.end();
  });
});
