import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/model/feedback.ts';
import type { PolicyEvent } from '../../src/model/policy-events.ts';
import { CircuitBreaker } from '../../src/policies/circuit-breaker.ts';
import { CircuitBreakerPolicy } from '../../src/policies/circuit-breaker-policy.ts';
import type { CircuitBreakerOptions, OnOpen } from '../../src/policies/circuit-types.ts';
import { type CompletedAttempt, REFUSED } from '../../src/policies/policy.ts';
import { demand } from '../support/waiter.ts';

const FAILED: Verdict = { kind: 'failed' };
const OK: Verdict = { kind: 'ok' };

function policyOf(onOpen: OnOpen, options: CircuitBreakerOptions = {}) {
  const facts: PolicyEvent[] = [];
  const breaker = new CircuitBreaker({ consecutiveFailures: 3, openMs: 100, ...options });
  const isFailure = ({ kind }: Verdict) => kind === 'failed' || kind === 'overloaded';
  const policy = new CircuitBreakerPolicy(breaker, onOpen, isFailure, (fact) => facts.push(fact));
  /** An attempt that is sent at one time and ends at another. */
  const end = (charge: number, verdict: Verdict | undefined, now: number, isSent = true) => {
    const ended: CompletedAttempt = { ...demand(), isSent, verdict, usage: undefined, epoch: 0 };
    policy.giveBack(charge, ended, { now: () => now });
  };
  const attempt = (verdict: Verdict | undefined, now: number, isSent = true) =>
    end(policy.take(demand(), now), verdict, now, isSent);
  const kinds = () => facts.map(({ kind, at }) => `${kind} at ${at}`);
  return { policy, breaker, facts, kinds, attempt, end };
}

describe('what counts for the circuit', () => {
  it.each([
    ['failed', FAILED, 'fails'],
    ['overloaded', { kind: 'overloaded' }, 'fails'],
    ['throttled', { kind: 'throttled' }, 'says nothing'],
    ['fatal, for what is in it', { kind: 'fatal' }, 'says nothing'],
    ['cancelled', undefined, 'says nothing'],
    ['ok', OK, 'goes well'],
  ] as const)('an attempt that is %s', (_name, verdict, what) => {
    const { attempt, breaker } = policyOf('fail');
    attempt(FAILED, 0);
    attempt(FAILED, 0);
    attempt(verdict, 1);
    const expected = { fails: 'open', 'says nothing': 'closed', 'goes well': 'closed' }[what];
    expect(breaker.snapshot(1).state).toBe(expected);
    if (what === 'says nothing') expect(breaker.snapshot(1).failures).toBe(2);
    if (what === 'goes well') expect(breaker.snapshot(1).failures).toBe(0);
  });

  it('is no attempt that was not sent, whatever is known of one before', () => {
    const { attempt, breaker } = policyOf('fail', { consecutiveFailures: 1 });
    attempt(FAILED, 0, false);
    expect(breaker.snapshot(0)).toMatchObject({ state: 'closed', failures: 0 });
  });

  it('is an outage, at once, with its reason, though it is no failure otherwise', () => {
    const { policy, attempt } = policyOf('fail');
    attempt({ kind: 'fatal', outage: 'billing' }, 5);
    expect(policy.wait(demand(), 6)).toBe(REFUSED);
    expect(policy.refusal(demand(), 6)).toMatchObject({
      code: 'CIRCUIT_OPEN',
      retryAfterMs: 99,
      reason: 'billing',
    });
  });

  it('is what comes from elsewhere too, without leave', () => {
    const { policy, kinds } = policyOf('fail');
    for (let now = 0; now < 3; now += 1) policy.recordVerdict(FAILED, now);
    expect(kinds()).toEqual(['circuitOpened at 2']);
  });

  it('is told, each transition once and at its time', () => {
    const { policy, attempt, kinds } = policyOf('wait');
    for (let now = 0; now < 3; now += 1) attempt(FAILED, now);
    expect(kinds()).toEqual(['circuitOpened at 2']);
    expect(policy.nextChangeAt).toBe(102);
    policy.advance(101);
    expect(policy.snapshot(101)).toMatchObject({ state: 'open', retryAfterMs: 1 });
    policy.advance(150);
    attempt(OK, 160);
    policy.advance(1_000);
    expect(kinds().slice(1)).toEqual(['circuitHalfOpen at 102', 'circuitClosed at 160']);
    expect(policy.nextChangeAt).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('while the circuit is open', () => {
  const opened = (onOpen: OnOpen, options: CircuitBreakerOptions = {}) => {
    const around = policyOf(onOpen, { consecutiveFailures: 1, ...options });
    around.attempt(FAILED, 0);
    return around;
  };

  it("requests fail with `onOpen: 'fail'`, at the door already", () => {
    const { policy } = opened('fail');
    expect(policy.wait(demand(), 40)).toBe(REFUSED);
    expect(policy.refusal(demand(), 40)).toMatchObject({ retryAfterMs: 60, reason: undefined });
    expect(policy.refusalOnArrival({ isCall: true }, { now: () => 40 })).toMatchObject({
      code: 'CIRCUIT_OPEN',
    });
    expect(policy.refusalOnArrival({ isCall: true }, { now: () => 100 })).toBeUndefined();
    expect(policy.wait(demand(), 100)).toBe(0);
  });

  it("wait until a probe may go with `onOpen: 'wait'`, and are not turned away", () => {
    const { policy } = opened('wait');
    expect(policy.wait(demand(), 40)).toBe(60);
    expect(policy.refusalOnArrival({ isCall: true }, { now: () => 40 })).toBeUndefined();
    expect(policy.wait(demand(), 100)).toBe(0);
  });

  it('and all probes are out, wait for what time does not tell', () => {
    const { policy, end } = opened('wait', { halfOpenProbes: 2 });
    const first = policy.take(demand(), 100);
    expect(policy.wait(demand(), 100)).toBe(0);
    policy.take(demand(), 100);
    expect(policy.wait(demand(), 100)).toBe(Number.POSITIVE_INFINITY);
    end(first, OK, 120);
    // One of two has gone well: the other is out still.
    expect(policy.wait(demand(), 120)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ['is cancelled', undefined, true],
    ['was never sent', undefined, false],
    ['meets a 429', { kind: 'throttled' }, true],
    ['fails for what is in it', { kind: 'fatal' }, true],
  ] as const)('a probe that %s frees its place', (_what, verdict, isSent) => {
    const { policy, end, kinds } = opened('wait');
    const probe = policy.take(demand(), 100);
    expect(policy.wait(demand(), 110)).toBe(Number.POSITIVE_INFINITY);
    end(probe, verdict, 120, isSent);
    expect(policy.wait(demand(), 120)).toBe(0);
    expect(policy.snapshot(120)).toMatchObject({ state: 'half-open', probes: 0 });
    end(policy.take(demand(), 120), OK, 130);
    expect(kinds().at(-1)).toBe('circuitClosed at 130');
  });

  it('a probe that fails opens it for twice as long', () => {
    const { policy, attempt } = opened('wait');
    attempt(FAILED, 100);
    expect(policy.wait(demand(), 100)).toBe(200);
  });

  it('an attempt that was sent before it opened says nothing of the probes', () => {
    const { policy, end, attempt } = policyOf('wait', { consecutiveFailures: 1 });
    const early = policy.take(demand(), 0);
    attempt(FAILED, 0);
    policy.take(demand(), 100);
    end(early, OK, 110);
    expect(policy.snapshot(110)).toMatchObject({ state: 'half-open', probes: 1 });
  });
});
