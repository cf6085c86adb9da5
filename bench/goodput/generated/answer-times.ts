/** Draws the answer times of a generated provider. */
import type { Random } from 'headgate';
import { seededRandom } from 'headgate/simulator';
import type { Scenario } from './space.ts';

/**
 * The answer times of accepted requests, in ms, in the order of acceptance. They are the same for
 * each client and for the omniscient schedule, because a cap accepts more if answers are quick.
 */
export function answerTimes({ seed, latencyMs, latencySigma }: Scenario): () => number {
  const random = seededRandom(seed * 17 + 11);
  return () => logNormalAround(latencyMs, latencySigma, random);
}

/** A log-normal value with the given mean; `sigma` is the standard deviation of its logarithm. */
export function logNormalAround(mean: number, sigma: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return mean * Math.exp(sigma * normal - sigma ** 2 / 2);
}
