import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import {
  type AcquireOptions,
  createLimiter,
  type LimiterOptions,
  type RateLimit,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { mostIn } from './rig.ts';

const WINDOW_MS = 10_000;
/** What each request really costs. */
const COST = 5;

/** Workers of one store, each with its options. */
function fleetOf(...each: LimiterOptions[]) {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const settled: (readonly number[])[] = [];
  const shared: SharedStore = {
    ...store,
    exchange: (request: ExchangeRequest) => {
      settled.push(request.settled);
      return store.exchange(request);
    },
  };
  const limiters = each.map((options) =>
    createLimiter({ clock, adaptive: false, concurrency: 4, ...options, shared }),
  );
  const sends: { at: number; cost: number }[] = [];
  const send = async (count: number, options: AcquireOptions | undefined, recorded?: string) => {
    for (const limiter of limiters) {
      for (let request = 0; request < count; request += 1) {
        const sending = limiter.run(async ({ record }) => {
          sends.push({ at: clock.now(), cost: COST });
          await new Promise<void>((done) => clock.setTimer(done, 100));
          if (recorded !== undefined) record(recorded, COST);
        }, options);
        sending.catch(() => {});
      }
    }
  };
  return { clock, limiters, sends, send, settled };
}

describe('a limit that is charged the real usage', () => {
  const table: [of: string, charge: RateLimit['charge'], AcquireOptions?, recorded?: string][] = [
    ['the given size, if no answer reports it', 'actual', { tokens: COST }],
    ['the given cost, if no answer reports it', 'actual', { costs: { tokens: COST } }],
    ['the amount of the answer, not the given one', 'actual', { tokens: 50 }, 'tokens'],
    ['the amount of the answer, if none is given', 'actual', undefined, 'tokens'],
    ['the amount of the answer, if none is given', 'settle', undefined, 'tokens'],
    ['the amount of the answer, where more was given', 'settle', { tokens: 10 }, 'tokens'],
    ['a cost of another name', 'actual', { costs: { images: COST } }],
    ['an amount of another name', 'settle', { costs: {} }, 'images'],
  ];
  it.each(table)('holds for all workers: %s, with `%s`', async (_, charge, options, recorded) => {
    const name = recorded ?? Object.keys(options?.costs ?? { tokens: 0 })[0] ?? '';
    const limits = { [name]: { limit: 1_000, windowMs: WINDOW_MS, charge } };
    const each = { limits };
    const { clock, limiters, sends, send } = fleetOf(each, each, each);
    await send(1_000, options, recorded);
    await clock.advanceAsync(60_000);
    // Nothing is known of the first requests, of which each slot has one. The window may hold one
    // request more, at the cost that was given for it.
    const more = Math.max(4 * COST, options?.tokens ?? 0);
    expect(mostIn(sends, WINDOW_MS)).toBeLessThanOrEqual(1_000 + more);
    expect(sends.length * COST).toBeGreaterThan(0.9 * 6_000);
    for (const limiter of limiters) limiter.close();
  });

  it('is not charged for requests without a cost, once they have ended', async () => {
    const limits = { images: { limit: 100, windowMs: WINDOW_MS, charge: 'settle' } as const };
    const { clock, limiters, send, settled } = fleetOf({ limits });
    await send(1, { costs: {} }, 'images');
    await clock.advanceAsync(1_000);
    await send(1, { costs: {} });
    await clock.advanceAsync(1_000);
    // 5 of the first one; the second one is taken for the same, and then gets most of it back.
    const sum = settled.reduce((total, [amount = 0]) => total + amount, 0);
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThan(0.1e6);
    for (const limiter of limiters) limiter.close();
  });
});

describe('tokens of requests that were sent without the limiter', () => {
  it('are charged to the limit of all workers, also before the first call of the store', async () => {
    const limits = { tokens: { limit: 1_000, windowMs: WINDOW_MS } };
    const { clock, limiters, sends, send } = fleetOf({ limits }, { limits });
    for (const limiter of limiters) limiter.recordTokens(300);
    await send(1_000, { tokens: COST });
    await clock.advanceAsync(5_000);
    limiters[0]?.recordSuccess({ tokens: 200 });
    await clock.advanceAsync(15_000);
    expect(sends.length * COST).toBeGreaterThan(0.95 * 1_200);
    expect(sends.length * COST).toBeLessThanOrEqual(1_200);
    for (const limiter of limiters) limiter.close();
  });
});

describe('a limit that only another worker has', () => {
  it('is charged for the tokens and bytes of requests, as they are given', async () => {
    const tokens = { limit: 1_000, windowMs: WINDOW_MS };
    const [bytes, images] = [{ ...tokens, limit: 500 }, tokens];
    const { clock, limiters, sends, send } = fleetOf(
      { limits: { requests: { limit: 10_000, windowMs: WINDOW_MS } } },
      { limits: { tokens, bytes, images } },
    );
    await send(1, { tokens: 1 });
    await clock.advanceAsync(1_000);
    await send(1_000, { tokens: COST, bytes: COST });
    await clock.advanceAsync(20_000);
    expect(mostIn(sends, WINDOW_MS)).toBeLessThanOrEqual(500 + 2 * COST);
    expect(sends.length * COST).toBeGreaterThan(900);
    for (const limiter of limiters) limiter.close();
  });
});
