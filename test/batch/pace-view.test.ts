import { describe, expect, it } from 'vitest';
import { paceOf } from '../../src/batch/pace-view.ts';
import type { LimiterSnapshot } from '../../src/index.ts';
import { rig } from '../limiter/rig.ts';

type Adaptive = LimiterSnapshot['adaptive'];

/** A limiter whose second request waits for the rate, with what its adaptive rate says replaced. */
function held(rate: object): LimiterSnapshot {
  const { limiter } = rig({ pace: { intervalMs: 1_000 } });
  for (let request = 0; request < 2; request += 1) limiter.run(async () => {}).catch(() => {});
  const snapshot = limiter.snapshot();
  const adaptive = { ...snapshot.adaptive, perSecond: 4.2, ...rate } as Adaptive;
  return { ...snapshot, adaptive };
}

describe('what holds the requests of a run back', () => {
  it.each([
    [{ origin: 'headers' }, "the provider's limits, now 252 requests/min"],
    [{ origin: 'learned', sinceCutMs: 10 }, '252 requests/min, learned from rejections'],
    [{ origin: 'learned', sinceCutMs: undefined }, 'a careful start, now 252 requests/min'],
    [{ origin: 'limit' }, 'your limit of 252 requests/min'],
    [{ origin: 'limit', perSecond: Number.POSITIVE_INFINITY }, 'the rate limit'],
  ])('is said for a rate of %o', (rate, words) => {
    expect(paceOf([held(rate)], {})?.heldBy).toBe(words);
  });
});
