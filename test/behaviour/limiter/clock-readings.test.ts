import { createNoopMeter } from '@opentelemetry/api';
import fc from 'fast-check';
import { lastValueFrom, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/limiter/limiter.ts';
import { throttle } from '../../../src/operators/throttle.ts';
import { ByteBudgetPolicy } from '../../../src/policies/byte-budget-policy.ts';
import { ConcurrencyPolicy } from '../../../src/policies/concurrency-policy.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { demand } from '../../support/waiter.ts';

/** Reading a real clock takes as long as a tenth of all else that is done for a request. */
class CountingClock extends ManualClock {
  readings = 0;

  override now(): number {
    this.readings += 1;
    return super.now();
  }
}

const COUNT = 1_000;
/** What is read once, however many requests there are. */
const ONCE = 100;

const ALL = {
  limits: {
    requests: { limit: 1e6, windowMs: 60_000 },
    tokens: { limit: 1e6, windowMs: 60_000, charge: 'settle' },
  },
  pace: { intervalMs: 0 },
  circuitBreaker: true,
  adaptive: 'failures',
} as const;

describe.each([
  ['by default', {}],
  ['with all gates', ALL],
])('a successful request that waits, %s, reads the clock', (_when, gates) => {
  it('twice in a stream: at its arrival and at its admission', async () => {
    const clock = new CountingClock();
    const send = throttle(async () => {}, { ...gates, clock, concurrency: 10 });
    await lastValueFrom(range(0, COUNT).pipe(send));
    expect(clock.readings).toBeLessThan(2 * COUNT + ONCE);
    expect(clock.readings).toBeGreaterThan(2 * COUNT - ONCE);
  });

  it('twice in a call', async () => {
    const clock = new CountingClock();
    const limiter = createLimiter({ ...gates, clock, concurrency: 10 });
    await Promise.all(Array.from({ length: COUNT }, () => limiter.run(async () => {})));
    expect(clock.readings).toBeLessThan(2 * COUNT + ONCE);
  });

  it('twice in a call whose wait is bounded', async () => {
    const clock = new CountingClock();
    const limiter = createLimiter({ ...gates, clock, concurrency: 10, waitTimeoutMs: 60_000 });
    await Promise.all(Array.from({ length: COUNT }, () => limiter.run(async () => {})));
    expect(clock.readings).toBeLessThan(2 * COUNT + ONCE);
  });
});

it('with metrics a request reads the clock once more, at the end of its attempt', async () => {
  const clock = new CountingClock();
  const telemetry = { meter: createNoopMeter() };
  const send = throttle(async () => {}, { telemetry, clock, concurrency: 10 });
  await lastValueFrom(range(0, COUNT).pipe(send));
  expect(clock.readings).toBeLessThan(3 * COUNT + ONCE);
  expect(clock.readings).toBeGreaterThan(3 * COUNT - ONCE);
});

describe('a policy that says it is full', () => {
  it('admits no request, at any time and of any cost', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.nat(5), fc.nat(100), fc.nat(1e6), (limit, held, bytes, now) => {
        const slots = new ConcurrencyPolicy(limit, 1, { throttledUntil: 5e5 });
        const budget = new ByteBudgetPolicy(10 * limit, 20);
        for (let n = 0; n < held; n += 1) {
          slots.take(demand(), now);
          budget.take(demand(bytes), now);
        }
        if (slots.isFull) expect(slots.wait(demand(), now)).toBe(Number.POSITIVE_INFINITY);
        if (budget.isFull) expect(budget.wait()).toBe(Number.POSITIVE_INFINITY);
        expect(slots.isFull).toBe(held >= limit);
        expect(budget.isFull).toBe(held * bytes > 10 * limit);
      }),
    );
  });
});
