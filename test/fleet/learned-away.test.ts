import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { keepWarnings } from '../support/warnings.ts';
import { Crowd, provider } from './learning-rig.ts';

keepWarnings();

const AWAY_AT_MS = 30_000;
const BACK_MS = 2_000;

/** Four workers on a bucket of 40 requests a second, which holds 40. */
function crowd(isAway: () => boolean): Crowd {
  const scenario = provider(1, {
    kind: 'token-bucket',
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
