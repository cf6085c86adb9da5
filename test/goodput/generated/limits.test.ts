import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WHOLE } from '../../../bench/goodput/generated/change.ts';
import {
  BucketLimit,
  CapLimit,
  CounterLimit,
  type Limit,
  LogLimit,
  WindowLimit,
} from '../../../bench/goodput/generated/limits.ts';
import { holds } from '../../support/holds.ts';

const WINDOW_MS = 40;
const always = () => 1;

/** Says by all earlier charges, without a state, whether one more is let in. */
type Oracle = (charges: readonly number[], now: number) => boolean;

/** Gaps in whole ms, many of them none: edges of windows are met exactly. */
const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 * WINDOW_MS })), {
  minLength: 1,
  maxLength: 120,
});
const limits = fc.integer({ min: 1, max: 9 });

/** Asks at each instant, and charges what is let in, or all, as where rejections count. */
function agree(limit: Limit, oracle: Oracle, script: readonly number[], chargesAll: boolean) {
  const charges: number[] = [];
  let now = 0;
  for (const gap of script) {
    now += gap;
    const isLetIn = limit.waitMs(now, 1) === 0;
    holds(isLetIn === oracle(charges, now), now, isLetIn);
    if (!isLetIn && !chargesAll) continue;
    limit.charge(now, 1);
    charges.push(now);
  }
}

function law(limitOf: (limit: number) => Limit, oracleOf: (limit: number) => Oracle): void {
  fc.assert(
    fc.property(limits, gaps, fc.boolean(), (limit, script, chargesAll) => {
      agree(limitOf(limit), oracleOf(limit), script, chargesAll);
    }),
  );
}

/** A wait that is named ends when one more is let in, and not sooner. */
function waitLaw(limitOf: (limit: number) => Limit): void {
  fc.assert(
    fc.property(limits, gaps, (limit, script) => {
      const state = limitOf(limit);
      let now = 0;
      for (const gap of script) {
        now += gap;
        const waitMs = state.waitMs(now, 1);
        if (waitMs > 1e-2) {
          holds(state.waitMs(now + waitMs - 1e-2, 1) > 0, now, waitMs);
          now += waitMs + 1e-5;
          holds(state.waitMs(now, 1) === 0, now);
        }
        state.charge(now, 1);
      }
    }),
  );
}

const sum = (charges: readonly number[], counts: (at: number) => boolean) =>
  charges.filter(counts).length;

describe('an aligned window', () => {
  const phaseMs = -13;
  const make = (limit: number) => new WindowLimit(limit, WINDOW_MS, always, phaseMs);
  const windowOf = (at: number) => Math.floor((at - phaseMs) / WINDOW_MS);

  it('lets in as many as its limit in each window of the clock', () =>
    law(
      make,
      (limit) => (charges, now) =>
        sum(charges, (at) => windowOf(at) === windowOf(now)) + 1 <= limit,
    ));
  it('names the time to its end', () => waitLaw(make));
});

describe('a window from the first charge', () => {
  const make = (limit: number) => new WindowLimit(limit, WINDOW_MS, always);

  it('begins with the first charge after its end', () =>
    law(make, (limit) => (charges, now) => {
      let startsAt = Number.NEGATIVE_INFINITY;
      let used = 0;
      for (const at of charges) {
        if (at >= startsAt + WINDOW_MS) [startsAt, used] = [at, 0];
        used += 1;
      }
      return now >= startsAt + WINDOW_MS || used + 1 <= limit;
    }));
  it('names the time to its end', () => waitLaw(make));
});

describe('a sliding log', () => {
  const make = (limit: number) => new LogLimit(limit, WINDOW_MS, always);

  it('lets in as many as its limit in any interval of its length', () =>
    law(
      make,
      (limit) => (charges, now) => sum(charges, (at) => at > now - WINDOW_MS) + 1 <= limit,
    ));
  it('names the time until enough have left it', () => waitLaw(make));
});

describe('a sliding counter', () => {
  const make = (limit: number) => new CounterLimit(limit, WINDOW_MS, always, 0);

  it('counts this window, and of the last the part that it still covers', () =>
    law(make, (limit) => (charges, now) => {
      const window = Math.floor(now / WINDOW_MS);
      const inWindow = (index: number) =>
        sum(charges, (at) => Math.floor(at / WINDOW_MS) === index);
      const covered = 1 - (now - window * WINDOW_MS) / WINDOW_MS;
      return inWindow(window) + inWindow(window - 1) * covered + 1 <= limit + 1e-6;
    }));
  it('names the time until the last window has faded enough', () => waitLaw(make));
});

describe('a bucket', () => {
  const make = (burst: number) => new BucketLimit(1 / 8, burst, WHOLE);

  it('lets in, over any interval, its burst and what came in meanwhile', () =>
    fc.assert(
      fc.property(limits, gaps, (burst, script) => {
        const oracle: Oracle = (charges, now) =>
          [...charges, now].every((from) => {
            const since = sum(charges, (at) => at >= from) + 1;
            return since <= burst + (now - from) / 8 + 1e-5;
          });
        agree(make(burst), oracle, script, false);
      }),
    ));
  it('names the time until it holds enough', () => waitLaw(make));

  it('gives up no more than it holds to rejections that count', () => {
    const bucket = make(2);
    for (let index = 0; index < 50; index += 1) bucket.charge(0, 1);
    expect(bucket.waitMs(0, 1)).toBeCloseTo(3 * 8, 9);
  });

  it('that holds less than one request lets in one when it is full', () => {
    const bucket = new BucketLimit(1 / 8, 0.5, WHOLE);
    expect(bucket.waitMs(0, 1)).toBe(0);
    bucket.charge(0, 1);
    expect(bucket.waitMs(0, 1)).toBeCloseTo(8, 9);
    expect(bucket.waitMs(8, 1)).toBe(0);
  });
});

describe('a cap', () => {
  it('lets in as many as are not in flight, and knows no time for the others', () => {
    fc.assert(
      fc.property(limits, fc.array(fc.boolean(), { maxLength: 80 }), (cap, script) => {
        const limit = new CapLimit(cap, always);
        let inFlight = 0;
        for (const ends of script) {
          if (ends && inFlight > 0) {
            limit.release();
            inFlight -= 1;
          }
          expect(limit.waitMs(0)).toBe(inFlight < cap ? 0 : Number.POSITIVE_INFINITY);
          if (inFlight >= cap) continue;
          limit.charge();
          inFlight += 1;
        }
      }),
    );
  });
});

describe('a limit of which a part is granted', () => {
  it.each<[string, Limit]>([
    ['aligned window', new WindowLimit(8, WINDOW_MS, () => 0.5, 0)],
    ['window', new WindowLimit(8, WINDOW_MS, () => 0.5)],
    ['log', new LogLimit(8, WINDOW_MS, () => 0.5)],
    ['counter', new CounterLimit(8, WINDOW_MS, () => 0.5, 0)],
    ['cap', new CapLimit(8, () => 0.5)],
  ])('lets that part in: %s', (_, limit) => {
    for (let index = 0; index < 4; index += 1) {
      expect(limit.waitMs(0, 1)).toBe(0);
      limit.charge(0, 1);
    }
    expect(limit.waitMs(0, 1)).toBeGreaterThan(0);
    expect(limit.told(0)).toMatchObject({ limit: 4, remaining: 0 });
  });
});
