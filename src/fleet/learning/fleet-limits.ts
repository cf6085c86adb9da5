import type { HardLimits } from '../../policies/adaptive-rate/units/hard-limits.ts';
import { MICRO, type SharedConfig } from '../protocol.ts';

const HOUR_MS = 3_600_000;

/**
 * The configured limits of a fleet, for the learner of its leader. Another worker may have changed
 * them: then the leader's own options are out of date.
 *
 * @param own the limits in the leader's options
 * @param config the settings that the fleet shares now; undefined before the first call
 */
export function fleetLimits(own: HardLimits, config: () => SharedConfig | undefined): HardLimits {
  return {
    ...own,
    perMs: (unit) => {
      const shared = config();
      if (shared === undefined) return own.perMs(unit);
      const limit = shared.limits.find(({ name }) => name === unit);
      // A quota, which is never refilled, has no rate.
      const perHour = limit?.perHour || Number.POSITIVE_INFINITY;
      return perHour / MICRO / HOUR_MS;
    },
  };
}
