import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The bytes in use after a full garbage collection: objects, and buffers of typed arrays. */
export function aliveBytes(): number {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/**
 * The least of up to five measurements, in bytes. V8 sometimes allocates memory of its own during a
 * measurement, but memory that each request leaks is in all five.
 * @param bound a measurement below it ends the series, since the least is then below it too
 */
export async function leastBytes(
  bound: number,
  measure: () => number | Promise<number>,
): Promise<number> {
  let least = Infinity;
  for (let n = 0; n < 5 && least >= bound; n += 1) least = Math.min(least, await measure());
  return least;
}

/** The bytes that `work` leaves in use: the least of up to five measurements. */
export function leastGrowth(bound: number, work: () => unknown): Promise<number> {
  return leastBytes(bound, async () => {
    const before = aliveBytes();
    await work();
    return aliveBytes() - before;
  });
}

/** The growth from the earlier half of some sizes to the later half, without short-lived memory. */
export function growthOf(sizes: readonly number[]): number {
  const half = Math.floor(sizes.length / 2);
  // Skip the first sizes, during which code is being compiled.
  return Math.min(...sizes.slice(half)) - Math.min(...sizes.slice(Math.floor(half / 2), half));
}
