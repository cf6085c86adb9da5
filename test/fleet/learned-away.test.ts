import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { keepWarnings } from '../support/warnings.ts';
import { Crowd, provider } from './learning-rig.ts';

keepWarnings();

const AWAY_AT_MS = 30_000;
const BACK_MS = 2_000;

/** Four workers on a bucket of 40 requests a second, which holds 40. */
function crowd(isAway: () => boolean, change: 'none' | 'halved' = 'none'): Crowd {
  const scenario = provider(1, {
    kind: 'token-bucket',
    change,
    perMs: 0.04,
    windowMs: 2_000,
    limit: 80,
    burst: 40,
    headers: 'retry-exact',
    latencyMs: 300,
    latencySigma: 0.2,
    networkMs: 5,
    networkJitter: 0.2,
    rejectionMs: 10,
    countsRejected: false,
    requests: 4_000,
    horizonMs: 100_000,
  });
  let store: SharedStore | undefined;
  return new Crowd(scenario, 4, (clock) => {
    const shared = store ?? memoryStore({ clock, onStoreLoss: 'share' });
    store = shared;
    return {
      ...shared,
      exchange: (request) => {
        if (isAway()) throw new Error('the store is away');
        return shared.exchange(JSON.parse(JSON.stringify(request)));
      },
    };
  });
}

it('workers that went on alone do not send what they have used meanwhile a second time', () => {
  for (const awayMs of [1_000, 5_000, 20_000]) {
    let isAway = false;
    const all = crowd(() => isAway);
    all.run(AWAY_AT_MS);
    isAway = true;
    all.run(awayMs);
    isAway = false;
    const back = all.clock.now();
    all.run(BACK_MS);
    const { accepted, rejected } = all.server.log;
    const isSince = (at: number) => at >= back;
    expect(rejected.filter(isSince).length, `${awayMs} ms`).toBeLessThanOrEqual(16);
    expect(accepted.filter(isSince).length, `${awayMs} ms`).toBeGreaterThan(0.035 * BACK_MS);
  }
});

it('workers that begin while the store is away start carefully, and wait after each rejection', () => {
  const all = crowd(() => true);
  all.run(AWAY_AT_MS);
  const { accepted, rejected } = all.server.log;
  expect(rejected.length).toBeLessThan(accepted.length);
  expect(accepted.length).toBeGreaterThan(0.6 * 0.04 * AWAY_AT_MS);
});

it('workers that go on alone spread the learned rate where the provider accepts less of it', () => {
  let isAway = false;
  const all = crowd(() => isAway, 'halved');
  // The rate is halved in the second third of the horizon.
  all.run(AWAY_AT_MS);
  isAway = true;
  all.run(35_000);
  const isSince = (at: number) => at >= 40_000;
  const accepted = all.server.log.accepted.filter(isSince).length;
  expect(accepted).toBeGreaterThan(0.9 * 0.02 * 25_000);
  expect(all.server.log.rejected.filter(isSince).length).toBeLessThan(0.2 * accepted);
});

it('a worker that goes on alone keeps the wait that its provider names, also one from before', async () => {
  for (const awayAtMs of [0, 300]) {
    const clock = new ManualClock();
    let isAway = awayAtMs === 0;
    const store = memoryStore({ clock, onStoreLoss: 'share' });
    const exchange: SharedStore['exchange'] = (request) => {
      if (isAway) throw new Error('the store is away');
      return store.exchange(request);
    };
    const limiter = createLimiter({ clock, shared: { ...store, exchange } });
    const sends: number[] = [];
    const attempt = async () => {
      sends.push(clock.now());
      if (sends.length > 1) return;
      throw Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '5' } });
    };
    const first = limiter.run(attempt);
    // Alone it has slots when the lease of the other workers is over.
    await clock.advanceAsync(isAway ? 6_000 : 300);
    isAway = true;
    const second = limiter.run(attempt);
    await clock.advanceAsync(20_000);
    await Promise.all([first, second]);
    expect((sends[1] as number) - (sends[0] as number), `${awayAtMs}`).toBeGreaterThan(4_900);
    limiter.close();
  }
});
