import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLimits, type LimitOptions } from '../../../src/simulator/limits/limit-options.ts';
import { LimitSet } from '../../../src/simulator/limits/limit-set.ts';
import { Capacity } from '../../../src/simulator/limits/limit-state.ts';

const requests: LimitOptions = {
  unit: 'requests',
  algorithm: 'sliding-window',
  limit: 5,
  windowMs: 1000,
};
const tokens: LimitOptions = {
  unit: 'tokens',
  algorithm: 'token-bucket',
  limit: 100,
  windowMs: 1000,
};

const setOf = (...limits: LimitOptions[]) => new LimitSet(limits, new Capacity());

describe('LimitSet', () => {
  it('charges all limits or none', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ gapMs: fc.nat(300), input: fc.nat(40), output: fc.nat(40) })),
        (steps) => {
          const limits = setOf(requests, tokens);
          let nowMs = 0;
          for (const { gapMs, input, output } of steps) {
            nowMs += gapMs;
            const before = limits.status(nowMs);
            const refusal = limits.check(nowMs, input, output);
            expect(limits.status(nowMs)).toEqual(before);
            if (refusal !== undefined) continue;
            limits.charge(nowMs, input, output);
            const left = limits.status(nowMs).map(({ remaining }) => remaining);
            const [wasRequests, wasTokens] = before.map(({ remaining }) => remaining);
            expect(left).toEqual([(wasRequests ?? 0) - 1, (wasTokens ?? 0) - input - output]);
          }
        },
      ),
    );
  });

  it('names the limit that needs the longest wait', () => {
    const limits = setOf({ ...requests, limit: 1 }, tokens);
    limits.charge(0, 50, 50);
    expect(limits.check(0, 10, 0)).toEqual({ limit: 'requests', waitMs: 1000 });
    expect(limits.check(0, 101, 0)).toEqual({ limit: 'tokens', waitMs: Number.POSITIVE_INFINITY });
  });

  it('charges output tokens as the limit says', () => {
    const left = (charge: 'upfront' | 'settle' | 'actual') => {
      const limits = setOf({ ...tokens, charge });
      const charges = limits.charge(0, 10, 50);
      const reserved = limits.status(0)[0]?.remaining;
      limits.settle(0, charges, { inputTokens: 10, outputTokens: 20 });
      return [reserved, limits.status(0)[0]?.remaining];
    };
    expect(left('upfront')).toEqual([40, 40]);
    expect(left('settle')).toEqual([40, 70]);
    expect(left('actual')).toEqual([90, 70]);
  });

  it('counts input and output tokens apart', () => {
    const limits = setOf({ ...tokens, unit: 'input-tokens' }, { ...tokens, unit: 'output-tokens' });
    limits.charge(0, 10, 30);
    expect(limits.status(0).map(({ name, remaining }) => [name, remaining])).toEqual([
      ['input-tokens', 90],
      ['output-tokens', 70],
    ]);
  });

  it('tells what it was asked to tell', () => {
    const sliced: LimitOptions = {
      ...requests,
      limit: 1,
      advertised: { limit: 60, windowMs: 60_000, algorithm: 'fixed-window' },
    };
    const limits = setOf(sliced, { ...tokens, advertised: false });
    limits.charge(0, 1, 1);
    expect(limits.check(500, 1, 1)).toEqual({ limit: 'requests', waitMs: 500 });
    expect(limits.status(500)).toEqual([
      { name: 'requests', unit: 'requests', limit: 60, remaining: 59, resetMs: 59_500 },
    ]);
  });

  it('tells a step of capacity, and no other tenants', () => {
    const steps = new LimitSet(
      [{ ...requests, limit: 10 }],
      new Capacity([{ atMs: 0, factor: 0.5 }]),
    );
    expect(steps.status(0)[0]).toMatchObject({ limit: 5, remaining: 5 });
    const tenants = new LimitSet([{ ...requests, limit: 10 }], new Capacity(() => 0.5));
    expect(tenants.status(0)[0]).toMatchObject({ limit: 10, remaining: 5 });
  });
});

describe('checkLimits', () => {
  const wrong: [string, object, string][] = [
    ['limit', { ...requests, limit: 0 }, '`limits[0].limit` must be an integer >= 1, got 0'],
    ['windowMs', { ...requests, windowMs: Number.NaN }, '`limits[0].windowMs`'],
    ['unit', { ...requests, unit: 'calls' }, '`limits[0].unit`'],
    ['algorithm', { ...requests, algorithm: 'leaky' }, '`limits[0].algorithm`'],
    ['burst', { ...requests, burst: 3 }, '`limits[0].burst` belongs to a token-bucket'],
    ['charge', { ...tokens, charge: 'late' }, '`limits[0].charge`'],
    ['advertised', { ...tokens, advertised: { limit: 1 } }, '`limits[0].advertised.windowMs`'],
    ['an unknown key', { ...tokens, windowMS: 3 }, '`windowMS` is no option of limits[0]'],
  ];

  it.each(wrong)('refuses a wrong %s', (_name, options, message) => {
    expect(() => checkLimits([options as LimitOptions])).toThrow(message);
  });

  it('refuses two limits of one name', () => {
    expect(() => checkLimits([requests, requests])).toThrow('`limits[1].name` must differ');
    expect(() => checkLimits([requests, { ...requests, name: 'day' }])).not.toThrow();
  });
});
