import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are alive after a full collection: objects, and the buffers of typed arrays. */
export function aliveBytes(): number {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/**
 * The least of up to five measurements, in bytes. Once in a while V8 compiles or moves something of
 * its own in the middle of one: what each request leaves behind is in all five.
 * @param bound a measurement below it is the last: the least cannot be above it any more
 */
export async function leastBytes(
  bound: number,
  measure: () => number | Promise<number>,
): Promise<number> {
  let least = Infinity;
  for (let n = 0; n < 5 && least >= bound; n += 1) least = Math.min(least, await measure());
  return least;
}

/** Bytes that are alive after `work` and were not before it: the least of up to five times. */
export function leastGrowth(bound: number, work: () => unknown): Promise<number> {
  return leastBytes(bound, async () => {
    const before = aliveBytes();
    await work();
    return aliveBytes() - before;
  });
}

/** How much the later half of some sizes is above the earlier one, without what comes and goes. */
export function growthOf(sizes: readonly number[]): number {
  const half = Math.floor(sizes.length / 2);
  // The first ones are those of a program that is being compiled.
  return Math.min(...sizes.slice(half)) - Math.min(...sizes.slice(Math.floor(half / 2), half));
}
