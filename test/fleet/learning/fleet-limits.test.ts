import { expect, it } from 'vitest';
import { fleetLimits } from '../../../src/fleet/learning/fleet-limits.ts';
import type { SharedConfig, SharedLimit } from '../../../src/fleet/protocol.ts';

/** Settings of a fleet with these limits; the learner reads nothing else of them. */
const settings = (limits: readonly SharedLimit[]) => ({ limits }) as SharedConfig;
const own = { perMs: () => 7, burst: () => 3 };
const requests: SharedLimit = { name: 'requests', capacity: 100e6, perHour: 7_200e6 };

it('the limits of a fleet are those that it shares, per ms', () => {
  const limits = fleetLimits(own, () => settings([requests]));
  expect(limits.perMs('requests')).toBeCloseTo(0.002, 12);
  expect(limits.perMs('tokens')).toBe(Number.POSITIVE_INFINITY);
  expect(limits.burst()).toBe(3);
});

it('the limits of a fleet are those of the leader before its first call', () => {
  expect(fleetLimits(own, () => undefined).perMs('requests')).toBe(7);
});

it('a quota of a fleet is no rate', () => {
  const limits = fleetLimits(own, () => settings([{ ...requests, perHour: 0 }]));
  expect(limits.perMs('requests')).toBe(Number.POSITIVE_INFINITY);
});
