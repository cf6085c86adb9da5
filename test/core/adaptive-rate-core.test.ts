import { describe, expect, it } from 'vitest';
import { OverloadLimit } from '../../src/core/adaptive-rate/overload-limit.ts';
import type { RateRules } from '../../src/core/adaptive-rate/rate-control.ts';
import { AdaptiveRateCore } from '../../src/core/adaptive-rate-core.ts';
import type { Ended } from '../../src/core/core.ts';
import type { CoreFact } from '../../src/model/facts.ts';
import type { Verdict } from '../../src/model/feedback.ts';
import { demand } from '../support/waiter.ts';
import { controlOf, NO_LIMIT, OK, OVERLOADED, THROTTLED } from './adaptive-rate/control-rig.ts';

const TOLD: Verdict = {
  kind: 'ok',
  limits: [{ unit: 'requests', limit: 60, remaining: 50, windowMs: 60_000 }],
};

const ended = (verdict?: Verdict, isSent = true, tokens?: number): Ended => ({
  ...demand(),
  isSent,
  verdict,
  usage: tokens === undefined ? undefined : { tokens },
  epoch: 0,
});

function rig(isAwake: boolean, rules: Partial<RateRules> = {}, start = 64, max = 64) {
  const facts: CoreFact[] = [];
  const limits: number[] = [];
  let made = 0;
  let reads = 0;
  let now = 0;
  const core = new AdaptiveRateCore(
    {
      control: (past) => {
        made += 1;
        return controlOf({ startPerSecond: isAwake ? 1 : NO_LIMIT, ...rules }, past);
      },
      concurrency: new OverloadLimit(start, max, 0),
      apply: (limit) => limits.push(limit),
      tell: (fact) => facts.push(fact),
    },
    isAwake,
    0,
  );
  const time = {
    now: () => {
      reads += 1;
      return now;
    },
  };
  return {
    core,
    facts,
    limits,
    made: () => made,
    reads: () => reads,
    take: (at: number, tokens = 0) => {
      now = at;
      return core.take({ bytes: 0, tokens }, at);
    },
    end: (charge: ReturnType<typeof core.take>, at: number, ...how: Parameters<typeof ended>) => {
      now = at;
      if (charge !== 0) core.giveBack(charge, ended(...how), time);
    },
    kinds: () => facts.map(({ kind }) => kind),
  };
}

describe('the core of an adaptive rate, asleep', () => {
  it('costs nothing: no wait, no clock, no control', () => {
    const { core, take, end, made, reads, facts } = rig(false, {}, 2);
    const charges = Array.from({ length: 100 }, () => take(0));
    expect(core.wait(demand(), 0)).toBe(0);
    expect(charges.slice(0, 3)).toEqual([1, 2, 3]);
    for (const charge of charges) end(charge, 10, OK);
    end(take(10), 20, { kind: 'failed' });
    end(take(10), 20, { kind: 'fatal' });
    end(take(10), 20, undefined, false);
    expect([made(), reads(), facts.length]).toEqual([0, 0, 0]);
    expect(core.snapshot(20)).toEqual({
      limit: 2,
      perSecond: Number.POSITIVE_INFINITY,
      origin: 'start',
      ceilingPerSecond: undefined,
      tokens: undefined,
      isOut: false,
      sinceCutMs: undefined,
    });
    expect(core.reading(20)).toEqual({ rates: undefined, rateCeiling: undefined, isOut: false });
  });

  it.each([
    ['a 429', THROTTLED],
    ['an overload', OVERLOADED],
    ['a limit that is told', TOLD],
  ])('is woken by %s, once', (_what, verdict) => {
    const { take, end, made } = rig(false);
    end(take(0), 10, OK);
    end(take(10), 20, verdict);
    end(take(20), 30, verdict);
    expect(made()).toBe(1);
  });

  it('knows what it had let go: the first rate is what was accepted since the first request', () => {
    const { core, take, end, facts } = rig(false);
    const charges = Array.from({ length: 51 }, (_, n) => take(5_000 + n * 100));
    const last = charges.pop();
    for (const charge of charges) end(charge, 10_000, OK);
    if (last !== undefined) end(last, 10_000, THROTTLED);
    expect(core.snapshot(10_000).ceilingPerSecond).toBeCloseTo(10, 9);
    expect(facts).toEqual([
      { kind: 'rateAdapted', at: 10_000, from: expect.any(Number), to: expect.closeTo(10, 9) },
    ]);
    expect(core.wait(demand(), 10_000)).toBeGreaterThan(0);
    expect(core.reading(10_000)).toMatchObject({ rates: { learned: expect.closeTo(9.9, 9) } });
  });

  it('takes late answers to what was sent before for late news', () => {
    const { core, take, end } = rig(false);
    const charges = Array.from({ length: 60 }, (_, n) => take(n * 100));
    for (const charge of charges.slice(0, 50)) end(charge, 6_000, OK);
    for (const charge of charges.slice(50, 55)) end(charge, 6_000, THROTTLED);
    const { ceilingPerSecond } = core.snapshot(6_000);
    for (const charge of charges.slice(55)) end(charge, 6_100, THROTTLED);
    expect(core.snapshot(6_100).ceilingPerSecond).toBe(ceilingPerSecond);
    expect(core.isAtRest(66_099)).toBe(false);
    expect(core.isAtRest(66_100)).toBe(true);
  });

  describe('and a bare 429 comes after a burst', () => {
    /** So many are sent at once, of which those are turned away that exceed a cap. */
    function burst(count: number, cap: number) {
      const it = rig(false, {}, 400, 400);
      const charges = Array.from({ length: count }, () => it.take(0));
      for (const charge of charges.slice(cap)) it.end(charge, 10, THROTTLED);
      return { ...it, inFlight: charges.slice(0, cap) };
    }

    it('sends as many at once as were let in, at no rate', () => {
      const { core, take, end, inFlight, limits, facts } = burst(400, 64);
      expect(core.snapshot(10)).toMatchObject({ limit: 61, ceilingPerSecond: undefined });
      expect(limits).toEqual([61]);
      for (const charge of inFlight.slice(0, 4)) end(charge, 1_000, OK);
      expect(core.wait(demand(), 1_000)).toBe(0);
      const more = [take(1_000)];
      expect(core.wait(demand(), 1_000)).toBe(1_000);
      for (const charge of more) end(charge, 1_100, OK);
      expect(core.wait(demand(), 1_100)).toBe(0);
      expect(facts.some(({ kind }) => kind === 'rateAdapted')).toBe(false);
    });

    it('sends nothing in the same turn, where all were turned away', () => {
      const { core, take, end } = rig(false);
      const charges = [take(0), take(0)];
      for (const charge of charges.reverse()) end(charge, 10, THROTTLED);
      expect(core.wait(demand(), 10)).toBe(1);
      expect(core.wait(demand(), 11)).toBe(0);
    });

    it('takes no outage for it that the same are in for long, and no more are let in', () => {
      const { core, take, end, kinds } = burst(400, 1);
      let now = 10;
      for (let tries = 0; tries < 6; now += 250) {
        if (core.wait(demand(), now) > 0) continue;
        end(take(now), now + 50, THROTTLED);
        tries += 1;
      }
      expect(kinds()).not.toContain('outageStarted');
      expect(now).toBeGreaterThan(60_000);
      expect(core.limit).toBe(1);
    });

    it('begins to pace where fewer in flight are turned away too', () => {
      const { core, take, end, inFlight } = burst(100, 64);
      for (const charge of inFlight) end(charge, 1_000, OK);
      const fewer = Array.from({ length: 30 }, () => take(1_500));
      for (const charge of fewer.slice(20)) end(charge, 1_510, THROTTLED);
      for (const charge of fewer.slice(0, 20)) end(charge, 1_520, OK);
      expect(core.snapshot(1_520)).toMatchObject({ ceilingPerSecond: undefined });
      expect(core.limit).toBe(400);
      // As at the start, from two a second, after two of its intervals.
      expect(core.wait(demand(), 1_520)).toBeCloseTo(1_000, -2);
      take(2_520);
      expect(core.wait(demand(), 2_520)).toBeGreaterThan(200);
    });
  });

  it('gives its own slots back in any case', () => {
    const { core, take, end } = rig(false, {}, 3, 3);
    const charges = [take(0), take(0), take(0)];
    end(take(0), 10, OVERLOADED);
    expect(core.wait(demand(), 20)).toBe(990);
    for (const charge of charges) end(charge, 20, OK);
    expect(core.wait(demand(), 20)).toBe(0);
  });
});

describe('the core of an adaptive rate', () => {
  it('paces from the start where it is awake', () => {
    const { core, take, made } = rig(true);
    expect(made()).toBe(1);
    expect(core.wait(demand(), 0)).toBe(0);
    take(0);
    expect(core.wait(demand(), 0)).toBe(1_000);
    expect(core.reading(0)).toEqual({ rates: undefined, rateCeiling: undefined, isOut: false });
  });

  it('lets nobody go beyond its limit, whatever the rate', () => {
    const { core, take, end } = rig(true, {}, 2, 2);
    const charges = [take(0), take(0)];
    expect(core.wait(demand(), 10_000)).toBe(1_000);
    for (const charge of charges) end(charge, 10_000, undefined);
    expect(core.wait(demand(), 10_000)).toBe(0);
  });

  it('tries one more in time, though all that are in flight hang', () => {
    const { core, take, end } = rig(true);
    end(take(0), 10, OVERLOADED);
    expect(core.limit).toBe(1);
    take(1_000);
    const freeAt = (from: number) => {
      let now = from;
      for (let waitMs = 1; waitMs > 0; now += waitMs) waitMs = core.wait(demand(), now);
      return now;
    };
    expect(freeAt(1_000)).toBeGreaterThan(20_000);
    expect(freeAt(1_000)).toBeLessThan(30_000);
  });

  it('lets its limit grow while it binds, and tells', () => {
    const { core, take, end, limits, facts } = rig(true, {}, 4);
    for (let n = 0; n < 4; n += 1) take(1_000);
    expect(limits).toEqual([]);
    end(take(2_000), 2_000, OK);
    expect(limits).toEqual([8]);
    expect(core.limit).toBe(8);
    expect(facts).toEqual([{ kind: 'limitAdapted', at: 2_000, from: 4, to: 8 }]);
  });

  it('lowers its limit at an overload, below what was in flight, and not the rate', () => {
    const { core, take, end, limits, kinds } = rig(true);
    const charges = Array.from({ length: 41 }, (_, n) => take(n));
    end(charges[40] ?? 0, 100, OVERLOADED);
    expect(limits).toEqual([38]);
    expect(kinds()).toEqual(['limitAdapted']);
    expect(core.snapshot(100)).toMatchObject({ limit: 38, ceilingPerSecond: undefined });
    end(charges[39] ?? 0, 110, THROTTLED);
    expect(core.limit).toBe(38);
  });

  it('tells of outages, and forgives the overloads that were their beginning', () => {
    const { core, take, end, kinds, facts } = rig(true);
    let now = 0;
    for (let n = 0; n < 3; n += 1) {
      end(take(now), now + 10, OVERLOADED);
      now += 100;
    }
    expect(core.snapshot(now)).toMatchObject({ isOut: true, limit: 64 });
    expect(core.reading(now).isOut).toBe(true);
    expect(kinds().filter((kind) => kind !== 'limitAdapted')).toEqual(['outageStarted']);
    end(take(5_000), 5_050, OK);
    expect(facts.at(-1)).toEqual({ kind: 'outageEnded', at: 5_050 });
    expect(core.limit).toBe(64);
  });

  it('tells of the end of an outage when a probe gets no answer', () => {
    const { core, take, end, facts } = rig(true);
    for (let now = 0; now < 300; now += 100) end(take(now), now + 10, THROTTLED);
    take(5_000);
    expect(core.wait(demand(), 5_100)).toBe(150);
    core.wait(demand(), 5_250);
    expect(facts.at(-1)).toEqual({ kind: 'outageEnded', at: 5_250 });
    core.wait(demand(), 5_300);
    expect(facts.filter(({ kind }) => kind === 'outageEnded')).toHaveLength(1);
  });

  it.each([
    ['was cancelled', undefined, true],
    ['was never sent', undefined, false],
    ['has failed', { kind: 'failed' }, true],
  ] as const)('learns nothing of an attempt that %s', (_what, verdict, isSent) => {
    const { core, take, end, facts } = rig(true);
    const charge = take(0);
    end(charge, 10, verdict, isSent);
    expect(core.wait(demand(), 10)).toBeCloseTo(isSent ? 990 : 0, 9);
    expect(facts).toEqual([]);
    expect(core.isAtRest(10)).toBe(true);
  });

  it('counts tokens where it must, and asks for no estimate where not', () => {
    const hard = (unit: string) => (unit === 'tokens' ? 1 : NO_LIMIT);
    const { core, take, end } = rig(true, { hard });
    core.wait(demand(), 0);
    // What may be sent at once.
    take(0, 3_000 * 0.998);
    const charge = take(0, 500);
    expect(core.wait(demand(), 0)).toBeCloseTo(500 / 0.998, 6);
    end(charge, 10, OK, true, 100);
    expect(core.wait(demand(), 10)).toBeCloseTo(100 / 0.998 - 10, 6);
    const plain = rig(true);
    const lazy = {
      bytes: 0,
      get tokens(): number {
        throw new Error('nobody counts tokens');
      },
    };
    expect(() => plain.core.take(lazy, 0)).not.toThrow();
  });

  it('is at rest when nothing is out, and no rejection was lately', () => {
    const { core, take, end } = rig(true);
    expect(core.isAtRest(0)).toBe(true);
    const charge = take(0);
    expect(core.isAtRest(0)).toBe(false);
    end(charge, 100, OVERLOADED);
    expect(core.isAtRest(60_099)).toBe(false);
    expect(core.isAtRest(60_100)).toBe(true);
  });

  it('follows another maximum', () => {
    const { core } = rig(true);
    core.setMaxLimit(5, 0);
    expect(core.limit).toBe(5);
    expect(core.snapshot(0).limit).toBe(5);
    core.setMaxLimit(100, 0);
    expect(core.limit).toBe(100);
  });
});
