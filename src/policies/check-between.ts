import { checkNumber } from '../util/check.ts';

/** A number from `least` to `most`, both included. */
export function checkBetween(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && (!(value >= least) || value > most)) {
    throw new RangeError(`\`${name}\` must be a number from ${least} to ${most}, got ${value}`);
  }
  return checkNumber(name, value, least);
}
