import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { Crowd, provider } from './learning-rig.ts';

/** Workers that are told the limit of the API, which halves for a third of the run. */
function crowd(workers: number): Crowd {
  const scenario = provider(1, {
    kind: 'token-bucket',
    change: 'halved',
    perMs: 0.01,
    windowMs: 10_000,
    limit: 100,
    burst: 5,
    latencyMs: 500,
    latencySigma: 0.2,
    networkMs: 5,
    networkJitter: 0.2,
    rejectionMs: 30,
    countsRejected: false,
    requests: 4_500,
    horizonMs: 450_000,
  });
  let store: SharedStore | undefined;
  const storeOf = (clock: Crowd['clock']) => {
    store ??= memoryStore({ clock });
    return store;
  };
  const limits = { requests: { limit: 100, windowMs: 10_000 } };
  return new Crowd(scenario, workers, storeOf, { limits });
}

it('the rate that a fleet learned below its configured limit grows again when the API allows more', () => {
  for (const workers of [1, 4]) {
    const all = crowd(workers);
    all.run(450_000);
    const { accepted } = all.server.log;
    const sent = (from: number, to: number) =>
      accepted.filter((at) => at >= 1_000 * from && at < 1_000 * to).length;
    // The API allows half from 150 to 300 s.
    expect(sent(200, 300) / 100, `${workers} workers`).toBeLessThan(5.5);
    expect(sent(410, 450) / 40, `${workers} workers`).toBeGreaterThan(9);
    for (const { limiter } of all.members) limiter.close();
  }
});

it.each([
  ['all its workers', [0, 1]],
  ['a worker that does not lead', [1]],
] as const)('the learned rate of a fleet grows with the limit that %s raise', (_, raising) => {
  const all = crowd(2);
  all.run(301_000);
  for (const place of raising) {
    const limits = { requests: { limit: 200, windowMs: 10_000 } };
    all.members[place]?.limiter.configure({ limits });
  }
  all.run(19_000);
  const sent = all.server.log.accepted.filter((at) => at >= 305_000).length;
  // Without that: 75 requests.
  expect(sent / 15).toBeGreaterThan(8.5);
  for (const { limiter } of all.members) limiter.close();
});
