import { setFlagsFromString } from 'node:v8';

/** The heap may grow by this part, in per cent, before its garbage is collected. */
const GROWING_PERCENT = 20;

/**
 * Lets the heap grow little beyond what is in use: a run makes much garbage and keeps little of it.
 * Measured with 200,000 lines of 1 kB: 87 MiB instead of 175, at the same speed. To be called before
 * much has been allocated.
 */
export function keepHeapSmall(): void {
  // The space for new objects stays as large as it is at the start.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
