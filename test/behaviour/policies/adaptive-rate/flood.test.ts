import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../src/simulator/index.ts';
import { type Adversary, besiege } from '../../../policies/adaptive-rate/flood.ts';

/** Attempts that go at once where nothing is known. */
const AT_ONCE = 16;
/** Single probes in a minute: their gaps grow from 100 ms, by 1.6, to 30 s. */
const PROBES = 12;
/**
 * Where rejections take now longer, now shorter, slow ones count as accepted until they come. Each
 * such mistake lets a few more go: so many in a minute, by far the most that was seen.
 */
const MISTAKEN = 6 * AT_ONCE;
const MOST_IN_FLIGHT = 64;

/** What is measured here is a matter of chance: the same runs each time. */
const SEED = 1;

const latencies = {
  answerMs: fc.integer({ min: 1, max: 20_000 }),
  rejectMs: fc.integer({ min: 1, max: 5_000 }),
};
const siege = fc.record({ ...latencies, seed: fc.nat() });

const adversaries: [string, Adversary][] = [
  ['half of what comes, at random', ({ chance }) => chance > 0.5],
  ['four of five, at random', ({ chance }) => chance > 0.8],
  ['nearly everything, at random', ({ chance }) => chance > 0.95],
  ['every second one', ({ n }) => n % 2 === 0],
  ['each that comes just after a success', ({ wasAccepted }) => !wasAccepted],
];

describe('a provider cannot make a flood', () => {
  it('by rejecting everything: few more than single probes go', () => {
    fc.assert(
      fc.property(siege, ({ answerMs, rejectMs, seed }) => {
        const random = seededRandom(seed);
        const accepts = () => false;
        for (const { rejected } of besiege({ accepts, answerMs, rejectMs, random, minutes: 10 })) {
          expect(rejected).toBeLessThanOrEqual(PROBES + 3 * AT_ONCE);
        }
      }),
      { numRuns: 60, seed: SEED },
    );
  });

  // What it lets in on purpose is no news of its rate: as many again it can always reject.
  it.each(adversaries)(
    'by rejecting %s: no more than it lets in, and single probes',
    (_, accepts) => {
      fc.assert(
        fc.property(siege, ({ answerMs, rejectMs, seed }) => {
          const random = seededRandom(seed);
          const minutes = besiege({ accepts, answerMs, rejectMs, random, minutes: 10 });
          for (const { accepted, rejected } of minutes) {
            expect(rejected).toBeLessThanOrEqual(1.3 * accepted + PROBES + MISTAKEN);
          }
        }),
        { numRuns: 30, seed: SEED },
      );
    },
  );

  it('by letting everything in for minutes, and nothing for minutes', () => {
    const phase = fc.integer({ min: 30_000, max: 240_000 });
    fc.assert(
      fc.property(siege, phase, ({ answerMs, rejectMs, seed }, phaseMs) => {
        const random = seededRandom(seed);
        const accepts: Adversary = ({ at }) => Math.floor(at / phaseMs) % 2 === 1;
        const options = { answerMs, rejectMs, random, minutes: 10, maxLimit: MOST_IN_FLIGHT };
        for (const { rejected } of besiege({ accepts, ...options })) {
          // What was out when a phase began is not known to be too much: twice a minute at most.
          expect(rejected).toBeLessThanOrEqual(PROBES + MISTAKEN + 2 * MOST_IN_FLIGHT);
        }
      }),
      { numRuns: 30, seed: SEED },
    );
  });
});
