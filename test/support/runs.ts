export const isLong = Boolean(process.env.TEST_LONG);

/** The number of cases in `npm run test:long`, as a multiple of that in `npm test`. */
export const LONGER = 33;

/** The time limit of such a test, in ms. */
export const LONG_MS = 7_200_000;

/** The number of cases to draw; `count` in `npm test`. */
export function runs(count: number): number {
  return isLong ? count * LONGER : count;
}
