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

/** How much the later half of some sizes is above the earlier one, without what comes and goes. */
export function growthOf(sizes: readonly number[]): number {
  const half = Math.floor(sizes.length / 2);
  // The first ones are those of a program that is being compiled.
  return Math.min(...sizes.slice(half)) - Math.min(...sizes.slice(Math.floor(half / 2), half));
}
