import { expect, it } from 'vitest';
import { emptyBucket } from '../../../src/fleet/model/bucket.ts';
import { grantRates } from '../../../src/fleet/model/rate-grants.ts';

const MICRO = 1_000_000;
const HOUR_SECONDS = 3_600;
const TICK = 50_000;

/** One request, then more of them, with one configured limit and a learned rate, a second. */
function shortOf(configured: number, learned: number, level = 0): number {
  const buckets = [configured, learned, 0].map((perSecond) => ({
    ...emptyBucket(MICRO, perSecond * MICRO * HOUR_SECONDS),
    level: perSecond === 0 ? 0 : level,
  }));
  const one = { costs: [MICRO, 0, 0], tokens: 0, spare: 0 } as const;
  const demand = [
    { ...one, count: 1 },
    { ...one, count: 20 },
  ];
  return grantRates(buckets, { demand, unused: [] }, TICK, 4, Number.POSITIVE_INFINITY).limit;
}

it('names the limit that opens last as short, where several let the same number pass', () => {
  expect(shortOf(10, 4)).toBe(1);
  expect(shortOf(4, 10)).toBe(0);
  expect(shortOf(10, 4, MICRO)).toBe(1);
  expect(shortOf(4, 10, MICRO)).toBe(0);
});
