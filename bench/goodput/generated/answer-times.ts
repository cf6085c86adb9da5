/** How long a generated provider takes to answer. */
import type { Random } from 'headgate';
import { seededRandom } from 'headgate/simulator';
import type { Scenario } from './space.ts';

/**
 * How long the requests that are let in take, in ms, one after the other. The same for each client
 * and for the omniscient schedule: a cap lets in more where answers happen to be quick.
 */
export function answerTimes({ seed, latencyMs, latencySigma }: Scenario): () => number {
  const random = seededRandom(seed * 17 + 11);
  return () => logNormalAround(latencyMs, latencySigma, random);
}

/** A log-normal value with that mean; `sigma` is the standard deviation of its logarithm. */
export function logNormalAround(mean: number, sigma: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return mean * Math.exp(sigma * normal - sigma ** 2 / 2);
}
