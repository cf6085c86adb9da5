import fc from 'fast-check';
import type {
  RateLimit,
  RateLimitAlgorithm,
  RateLimitCharge,
} from '../../../src/policies/rate-limit/rate-limit.ts';
import { RateLimits } from '../../../src/policies/rate-limit/rate-limits.ts';
import type { Reservation } from '../../../src/policies/rate-limit/reservation.ts';
import { costsOf } from '../../support/costs-of.ts';

/** Something that happens to limits. Requests that were let in are meant by a number, modulo. */
export type Step =
  | { readonly kind: 'pass-time'; readonly ms: number }
  | { readonly kind: 'request'; readonly part: number; readonly isPatient: boolean }
  | { readonly kind: 'settle'; readonly request: number; readonly part: number }
  | { readonly kind: 'refund'; readonly request: number };

export const charges: readonly RateLimitCharge[] = ['upfront', 'settle', 'actual'];

export const algorithms: readonly RateLimitAlgorithm[] = [
  'sliding-window',
  'token-bucket',
  'fixed-window',
];

/** Times that meet, times that cannot be stored exactly, and leaps. */
const passedMs = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 50, 100) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 1500 }).map((tenths) => tenths / 10) },
  { weight: 1, arbitrary: fc.constantFrom(1e6, 1e9 + 0.7) },
);

const passTime = fc.record({ kind: fc.constant('pass-time' as const), ms: passedMs });
const request = fc.record({
  kind: fc.constant('request' as const),
  part: fc.integer({ min: 0, max: 100 }),
  isPatient: fc.boolean(),
});
const settle = fc.record({
  kind: fc.constant('settle' as const),
  request: fc.nat(),
  part: fc.integer({ min: 0, max: 200 }),
});
const refund = fc.record({ kind: fc.constant('refund' as const), request: fc.nat() });

const weighted = [
  { weight: 3, arbitrary: passTime },
  { weight: 6, arbitrary: request },
];

/** Requests as time passes. */
export const plainScript = fc.array(fc.oneof(...weighted), { maxLength: 60 });

/** With corrections of what they cost, and refunds. */
export const script: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(...weighted, { weight: 3, arbitrary: settle }, { weight: 1, arbitrary: refund }),
  { maxLength: 60 },
);

const windowMs = fc.constantFrom(7, 100, 100.3, 1000);

export function limitOf(
  algorithm: RateLimitAlgorithm,
  charges: readonly RateLimitCharge[] = ['upfront', 'settle'],
): fc.Arbitrary<RateLimit> {
  const limit = fc.integer({ min: 1, max: 40 });
  return fc
    .record({ limit, windowMs, burst: limit, charge: fc.constantFrom(...charges) })
    .map(({ burst, ...rest }) => ({
      ...rest,
      algorithm,
      ...(algorithm === 'token-bucket' && { burst }),
    }));
}

export const anyLimit = fc.constantFrom(...algorithms).chain((algorithm) => limitOf(algorithm));

export const anyLimits = fc
  .array(anyLimit, { minLength: 1, maxLength: 3 })
  .map((limits) => Object.fromEntries(limits.map((limit, index) => [`limit${index}`, limit])));

/**
 * So many hundredths of what each limit lets pass, of each another part; above 100 of all alike.
 */
export function partOf(
  limits: Readonly<Record<string, RateLimit>>,
  part: number,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(limits).map(([name, { limit, burst = limit }], index) => {
      const hundredths = part > 100 ? part : (part * (index + 1)) % 101;
      return [name, Math.floor((burst * hundredths) / 100)];
    }),
  );
}

/** What a script does, step by step, for those who keep their own books. */
export interface Witness {
  asked?(cost: Readonly<Record<string, number>>, waitMs: number, now: number): void;
  took?(cost: Readonly<Record<string, number>>, now: number): void;
  settled?(request: number, actual: Readonly<Record<string, number>>, now: number): void;
  refunded?(request: number, now: number): void;
}

/** Plays a script. Patient requests wait as long as they are told to, the others go away. */
export function play(
  limits: Readonly<Record<string, RateLimit>>,
  steps: readonly Step[],
  witness: Witness = {},
) {
  const policy = new RateLimits(limits);
  const reservations: Reservation[] = [];
  let now = 1000.1;
  for (const step of steps) {
    if (step.kind === 'pass-time') {
      now += step.ms;
    } else if (step.kind === 'request') {
      const cost = partOf(limits, step.part);
      const costs = costsOf(policy, cost);
      const waitMs = policy.wait(costs, now);
      witness.asked?.(cost, waitMs, now);
      if (waitMs > 0 && !step.isPatient) continue;
      now += waitMs;
      reservations.push(policy.take(costs, now));
      witness.took?.(cost, now);
    } else if (reservations.length > 0) {
      const index = step.request % reservations.length;
      const reservation = reservations[index] as Reservation;
      if (step.kind === 'settle') {
        const actual = partOf(limits, step.part);
        if (policy.settle(reservation, actual, now)) witness.settled?.(index, actual, now);
      } else if (policy.refund(reservation, now)) witness.refunded?.(index, now);
    }
  }
  return { policy, now, reservations };
}

/** A little before: some of the smallest steps that a number of this size can make. */
export function justBefore(time: number): number {
  return time - time * 2 * Number.EPSILON;
}
