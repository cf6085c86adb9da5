import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../src/model/feedback.ts';
import type { PolicyEvent } from '../../../src/model/policy-events.ts';
import type { Amounts } from '../../../src/model/ticket.ts';
import { Aimd } from '../../../src/policies/aimd.ts';
import { AimdPolicy } from '../../../src/policies/aimd-policy.ts';
import { Gradient } from '../../../src/policies/gradient.ts';
import { GradientPolicy } from '../../../src/policies/gradient-policy.ts';
import { Interval } from '../../../src/policies/interval.ts';
import type { CompletedAttempt } from '../../../src/policies/policy.ts';
import { demand } from '../../support/waiter.ts';

const endedWith = (
  verdict: Verdict | undefined,
  usage?: Amounts,
  isSent = true,
): CompletedAttempt => ({
  ...demand(),
  isSent,
  verdict,
  usage,
  epoch: 0,
});

function coolingCore() {
  const facts: PolicyEvent[] = [];
  const limits: number[] = [];
  const interval = new Interval({ intervalMs: 100 });
  const options = { maxLimit: 8, failureThreshold: 2, coolingMs: 1_000 };
  const policy = new AimdPolicy(
    new Aimd(options, 0, interval),
    ({ kind }) => kind === 'failed',
    (limit) => limits.push(limit),
    (fact) => facts.push(fact),
  );
  const attempt = (now: number, ...end: Parameters<typeof endedWith>) =>
    policy.giveBack(policy.take(demand(), now), endedWith(...end), { now: () => now });
  return { policy, facts, limits, interval, attempt };
}

describe('a cooling policy', () => {
  it('holds no request back', () => {
    const { policy, attempt } = coolingCore();
    attempt(0, { kind: 'failed' });
    attempt(0, { kind: 'failed' });
    expect(policy.wait()).toBe(0);
  });

  it('sets the limit, then tells, as failures come and as time passes', () => {
    const { policy, facts, limits, interval, attempt } = coolingCore();
    attempt(10, { kind: 'failed' });
    expect(limits).toEqual([]);
    attempt(20, { kind: 'failed' });
    expect(limits).toEqual([4]);
    expect(interval.ms).toBe(200);
    expect(facts.map(({ kind }) => kind)).toEqual(['decelerated', 'coolingStarted']);
    expect(policy.nextChangeAt).toBe(1_020);
    policy.advance(1_019);
    expect(limits).toEqual([4]);
    policy.advance(1_020);
    expect(limits).toEqual([4, 5]);
    expect(facts.at(-1)).toMatchObject({ kind: 'reaccelerated', from: 4, to: 5, intervalMs: 100 });
  });

  it.each([
    ['cancelled', undefined, true],
    ['not sent', { kind: 'failed' }, false],
    ['ok', { kind: 'ok' }, true],
    ['no failure for the predicate', { kind: 'throttled' }, true],
  ] as const)('does not count an attempt that is %s', (_what, verdict, isSent) => {
    const { policy, attempt, limits } = coolingCore();
    for (let n = 0; n < 5; n += 1) attempt(0, verdict, undefined, isSent);
    expect(limits).toEqual([]);
    expect(policy.snapshot(0).failures).toBe(0);
  });

  it('answers an outage once, however many were in flight', () => {
    const { policy, limits } = coolingCore();
    const charges = Array.from({ length: 8 }, () => policy.take(demand(), 0));
    for (const charge of charges) {
      policy.giveBack(charge, endedWith({ kind: 'failed' }), { now: () => 5 });
    }
    expect(limits).toEqual([4]);
    // Those of the present epoch count, the ones from elsewhere too.
    policy.recordVerdict({ kind: 'failed' }, 6);
    policy.recordVerdict({ kind: 'ok' }, 6);
    policy.giveBack(charges[0] ?? 0, endedWith({ kind: 'failed' }), { now: () => 7 });
    expect(limits).toEqual([4]);
    policy.recordVerdict({ kind: 'failed' }, 8);
    expect(limits).toEqual([4, 2]);
  });
});

function gradientCore(per: 'request' | 'token' = 'request') {
  const facts: PolicyEvent[] = [];
  const limits: number[] = [];
  const gradient = new Gradient({ maxLimit: 100, initialLimit: 10, windowMs: 0, per });
  const policy = new GradientPolicy(
    gradient,
    (limit) => limits.push(limit),
    (fact) => facts.push(fact),
  );
  let now = 0;
  /** So many attempts at once, of which each takes so long. */
  const batch = (count: number, ms: number, ...end: Parameters<typeof endedWith>) => {
    const charges = Array.from({ length: count }, () => policy.take(demand(), now));
    now += ms;
    for (const charge of charges) policy.giveBack(charge, endedWith(...end), { now: () => now });
  };
  return { policy, gradient, facts, limits, batch };
}

describe('a gradient policy', () => {
  it('holds no request back', () => {
    expect(gradientCore().policy.wait()).toBe(0);
  });

  it('grows while latency stays, tells each change, and sets the limit first', () => {
    const { facts, limits, batch, gradient } = gradientCore();
    for (let n = 0; n < 20; n += 1) batch(10, 100, { kind: 'ok' });
    expect(limits.length).toBeGreaterThan(3);
    expect(limits.at(-1)).toBe(gradient.limit);
    expect(facts.map((fact) => fact.kind === 'limitAdapted' && fact.to)).toEqual(limits);
    expect(facts[0]).toEqual({
      kind: 'limitAdapted',
      at: 200,
      reason: 'latency',
      from: 10,
      to: limits[0],
    });
  });

  it.each([['throttled'], ['overloaded']] as const)('shrinks at once when %s', (kind) => {
    const { limits, batch } = gradientCore();
    batch(10, 100, { kind });
    // All of them were sent before the first was dropped: one cut.
    expect(limits).toEqual([9]);
  });

  it.each([
    ['failed', { kind: 'failed' }, true],
    ['fatal', { kind: 'fatal' }, true],
    ['cancelled', undefined, true],
    ['not sent', { kind: 'ok' }, false],
  ] as const)('learns nothing from attempts that are %s', (_what, verdict, isSent) => {
    const { policy, gradient, batch } = gradientCore();
    for (let n = 0; n < 5; n += 1) batch(10, 100, verdict, undefined, isSent);
    expect(gradient.limit).toBe(10);
    expect(policy.snapshot().shortLatencyMs).toBeUndefined();
  });

  it('counts those in flight, so that few of them teach nothing of the limit', () => {
    const few = gradientCore();
    for (let n = 0; n < 50; n += 1) few.batch(1, 100, { kind: 'ok' });
    expect(few.policy.snapshot().shortLatencyMs).toBe(100);
    expect(few.limits).toEqual([]);
    // Had those that ended still counted, one at a time would look like many.
    few.batch(1, 100, undefined);
    for (let n = 0; n < 50; n += 1) few.batch(1, 100, { kind: 'ok' });
    expect(few.limits).toEqual([]);
  });

  it('divides by the tokens that were recorded, where it goes by tokens', () => {
    const { policy, batch } = gradientCore('token');
    batch(10, 100, { kind: 'ok' });
    expect(policy.snapshot().shortLatencyMs).toBeUndefined();
    batch(10, 100, { kind: 'ok' }, { tokens: 50 });
    expect(policy.snapshot().shortLatencyMs).toBe(2);
  });

  it('takes a clock that went back for one that stood still', () => {
    const { policy } = gradientCore();
    const charge = policy.take(demand(), 100);
    expect(() =>
      policy.giveBack(charge, endedWith({ kind: 'ok' }), { now: () => 50 }),
    ).not.toThrow();
  });
});
