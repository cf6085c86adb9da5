/** The share of the limits that other tenants leave. */
import { type CapacityFunction, seededRandom } from 'headgate/simulator';
import type { OtherTenants } from './scenario.ts';

/** Interpolates between random shares, which are the same for every client of a seed. */
export function leftByOthers(
  others: OtherTenants,
  seed: number,
  seconds: number,
): CapacityFunction {
  const { least, most, everyMs } = others;
  const random = seededRandom(seed);
  const shares = Array.from(
    { length: Math.ceil((seconds * 1000) / everyMs) + 2 },
    () => least + (most - least) * random(),
  );
  return (nowMs) => {
    const at = nowMs / everyMs;
    const before = shares[Math.floor(at)] ?? least;
    const after = shares[Math.floor(at) + 1] ?? before;
    return 1 - (before + (after - before) * (at - Math.floor(at)));
  };
}
