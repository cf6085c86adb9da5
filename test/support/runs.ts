export const isLong = Boolean(process.env.TEST_LONG);

/** `npm run test:long` draws so many times as many cases as `npm test`. */
export const LONGER = 33;

/** For how long a test may draw them, in ms. */
export const LONG_MS = 7_200_000;

/** How many cases to draw, where `npm test` draws `count`. */
export function runs(count: number): number {
  return isLong ? count * LONGER : count;
}
