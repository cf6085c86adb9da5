import { describe, expect, it } from 'vitest';
import { HeadgateError } from '../../src/model/errors.ts';
import { CircuitBreaker } from '../../src/policies/circuit-breaker.ts';
import {
  type CircuitBreakerOptions,
  CircuitOpenError,
  type CircuitResult,
} from '../../src/policies/circuit-types.ts';

const OPEN_MS = 30_000;

/** Sends one attempt and ends it at once. */
function send(breaker: CircuitBreaker, result: CircuitResult, now: number) {
  return breaker.record(breaker.enter(now), result, now);
}

/** A breaker that was opened at 0 by failures in a row. */
function opened(options: CircuitBreakerOptions = {}): CircuitBreaker {
  const breaker = new CircuitBreaker({ consecutiveFailures: 1, ...options });
  send(breaker, 'failed', 0);
  return breaker;
}

describe('a closed circuit', () => {
  it('opens at ten failures in a row, and says so', () => {
    const breaker = new CircuitBreaker();
    for (let failure = 1; failure < 10; failure++) {
      expect(send(breaker, 'failed', failure)).toEqual([]);
    }
    expect(breaker.check(9)).toBeUndefined();
    expect(send(breaker, 'failed', 10)).toEqual([
      { kind: 'circuitOpened', at: 10, openMs: OPEN_MS, failures: 10, reason: undefined },
    ]);
    expect(breaker.check(10)).toBeInstanceOf(CircuitOpenError);
  });

  it('counts anew after a success', () => {
    const breaker = new CircuitBreaker({ consecutiveFailures: 3 });
    for (const result of ['failed', 'failed', 'ok', 'failed', 'failed'] as const) {
      send(breaker, result, 0);
    }
    expect(breaker.snapshot(0)).toMatchObject({ state: 'closed', failures: 2 });
    send(breaker, 'failed', 0);
    expect(breaker.snapshot(0).state).toBe('open');
  });

  it('takes what was ignored neither for a failure nor for a success', () => {
    const breaker = new CircuitBreaker({ consecutiveFailures: 2 });
    for (const result of ['failed', 'ignored', 'ignored'] as const) send(breaker, result, 0);
    expect(breaker.snapshot(0)).toMatchObject({ state: 'closed', failures: 1 });
    send(breaker, 'failed', 0);
    expect(breaker.snapshot(0).state).toBe('open');
  });

  it('opens at once, with the reason, when asking again cannot help', () => {
    const breaker = new CircuitBreaker();
    const facts = send(breaker, { fatal: 'insufficient_quota' }, 5);
    expect(facts).toMatchObject([{ kind: 'circuitOpened', reason: 'insufficient_quota' }]);
    const error = breaker.check(5);
    expect(error).toMatchObject({ reason: 'insufficient_quota', retryAfterMs: OPEN_MS });
    expect(error?.message).toBe('the circuit is open (insufficient_quota): ask again in 30000 ms');
  });
});

describe('an open circuit', () => {
  it('says how long it stays open, less as time passes', () => {
    const breaker = opened();
    expect([0, 1, 29_999.5].map((now) => breaker.check(now)?.retryAfterMs)).toEqual([
      30_000, 29_999, 1,
    ]);
    expect(breaker.snapshot(10_000)).toEqual({
      state: 'open',
      isIsolated: false,
      failures: 1,
      recent: undefined,
      retryAfterMs: 20_000,
      probes: 0,
      reason: undefined,
    });
  });

  it('lets nobody in: entering throws what checking returns', () => {
    const breaker = opened();
    expect(() => breaker.enter(1)).toThrow(new CircuitOpenError(29_999));
    const error = breaker.check(1);
    expect(error).toBeInstanceOf(HeadgateError);
    expect(error).toMatchObject({ name: 'CircuitOpenError', code: 'CIRCUIT_OPEN' });
  });

  it('becomes half-open on time, and tells it with the time at which it was due', () => {
    const breaker = opened();
    expect(breaker.nextChangeAt).toBe(OPEN_MS);
    expect(breaker.advance(29_999)).toEqual([]);
    expect(breaker.check(99_999)).toBeUndefined();
    expect(breaker.advance(100_000)).toEqual([{ kind: 'circuitHalfOpen', at: OPEN_MS }]);
    expect(breaker.advance(100_000)).toEqual([]);
    expect(breaker.nextChangeAt).toBe(Number.POSITIVE_INFINITY);
  });

  it('of no delay lets a probe go at once, again and again', () => {
    const breaker = opened({ openMs: 0 });
    for (let round = 0; round < 20; round++) {
      expect(breaker.check(0)).toBeUndefined();
      expect(send(breaker, 'failed', 0)).toHaveLength(2);
    }
    send(breaker, 'ok', 0);
    expect(breaker.snapshot(0).state).toBe('closed');
  });
});

describe('a half-open circuit', () => {
  it('lets one probe through and closes when that succeeds', () => {
    const breaker = opened();
    const probe = breaker.enter(OPEN_MS);
    expect(breaker.check(OPEN_MS)?.retryAfterMs).toBe(OPEN_MS);
    expect(breaker.snapshot(OPEN_MS)).toMatchObject({ state: 'half-open', probes: 1 });
    expect(breaker.record(probe, 'ok', OPEN_MS + 5)).toEqual([
      { kind: 'circuitHalfOpen', at: OPEN_MS },
      { kind: 'circuitClosed', at: OPEN_MS + 5 },
    ]);
    expect(breaker.snapshot(OPEN_MS + 5)).toMatchObject({ state: 'closed', failures: 0 });
  });

  it('closes when as many probes have succeeded as it asks for', () => {
    const breaker = opened({ halfOpenProbes: 3 });
    const probes = [breaker.enter(OPEN_MS), breaker.enter(OPEN_MS), breaker.enter(OPEN_MS)];
    expect(breaker.check(OPEN_MS)).toBeInstanceOf(CircuitOpenError);
    for (const probe of probes) {
      expect(breaker.check(OPEN_MS)).toBeInstanceOf(CircuitOpenError);
      breaker.record(probe, 'ok', OPEN_MS);
    }
    expect(breaker.snapshot(OPEN_MS).state).toBe('closed');
  });

  it('opens again on a failed probe, twice as long each time, up to five times as long', () => {
    const breaker = opened();
    let now = 0;
    const delays: number[] = [];
    for (let round = 0; round < 5; round++) {
      now = breaker.nextChangeAt;
      send(breaker, 'failed', now);
      delays.push(breaker.nextChangeAt - now);
    }
    expect(delays).toEqual([60_000, 120_000, 150_000, 150_000, 150_000]);
    now = breaker.nextChangeAt;
    send(breaker, 'ok', now);
    send(breaker, 'failed', now);
    expect(breaker.nextChangeAt - now).toBe(OPEN_MS);
  });

  it('gives the place of a probe that was cancelled or excluded to the next one', () => {
    const breaker = opened();
    for (let round = 0; round < 5; round++) {
      const probe = breaker.enter(OPEN_MS);
      expect(breaker.check(OPEN_MS)).toBeInstanceOf(CircuitOpenError);
      breaker.record(probe, 'ignored', OPEN_MS);
      expect(breaker.check(OPEN_MS)).toBeUndefined();
    }
    send(breaker, 'ok', OPEN_MS);
    expect(breaker.snapshot(OPEN_MS).state).toBe('closed');
  });

  it('opens with the reason when a probe meets a fatal error, and forgets it once closed', () => {
    const breaker = opened();
    send(breaker, { fatal: 'HTTP 401' }, OPEN_MS);
    expect(breaker.check(OPEN_MS)).toMatchObject({ reason: 'HTTP 401', retryAfterMs: 60_000 });
    const later = breaker.nextChangeAt;
    const probe = breaker.enter(later);
    expect(breaker.check(later)?.reason).toBe('HTTP 401');
    breaker.record(probe, 'ok', later);
    expect(breaker.snapshot(later)).toMatchObject({ state: 'closed', reason: undefined });
  });
});

describe('late results', () => {
  it('of attempts sent before the last transition do not count', () => {
    const breaker = new CircuitBreaker({ consecutiveFailures: 1 });
    const early = [0, 0, 0, 0].map((now) => breaker.enter(now));
    send(breaker, 'failed', 0);
    const [first = 0, second = 0, third = 0, fourth = 0] = early;
    expect(breaker.record(first, 'ok', 1)).toEqual([]);
    expect(breaker.check(1)?.retryAfterMs).toBe(29_999);
    const probe = breaker.enter(OPEN_MS);
    expect(breaker.record(second, 'ok', OPEN_MS)).toEqual([
      { kind: 'circuitHalfOpen', at: OPEN_MS },
    ]);
    expect(breaker.record(third, 'failed', OPEN_MS)).toEqual([]);
    expect(breaker.snapshot(OPEN_MS)).toMatchObject({ state: 'half-open', probes: 1 });
    breaker.record(probe, 'ok', OPEN_MS);
    expect(breaker.record(fourth, { fatal: 'old news' }, OPEN_MS)).toEqual([]);
    expect(breaker.snapshot(OPEN_MS).state).toBe('closed');
  });

  it('free no place that a later probe holds', () => {
    const breaker = opened({ halfOpenProbes: 2 });
    const slow = breaker.enter(OPEN_MS);
    send(breaker, 'failed', OPEN_MS);
    const later = breaker.nextChangeAt;
    breaker.enter(later);
    breaker.enter(later);
    breaker.record(slow, 'ignored', later);
    expect(breaker.check(later)).toBeInstanceOf(CircuitOpenError);
  });
});

it('an isolated circuit lets nothing pass until its last isolation ends, and tells both ends once', () => {
  const breaker = new CircuitBreaker();
  const endOne = breaker.isolate('maintenance', 5);
  const endOther = breaker.isolate(undefined, 6);
  const forever = Number.POSITIVE_INFINITY;
  expect(breaker.check(7)).toMatchObject({ retryAfterMs: forever, reason: 'isolated' });
  expect(breaker.snapshot(7)).toMatchObject({
    state: 'open',
    isIsolated: true,
    retryAfterMs: forever,
  });
  expect(breaker.advance(7)).toEqual([{ kind: 'circuitIsolated', at: 5, reason: 'maintenance' }]);
  expect([endOther(8), endOther(9)]).toEqual([[], []]);
  expect(breaker.check(9)).toMatchObject({ reason: 'maintenance' });
  expect([breaker.isClosed, breaker.snapshot(9).reason]).toEqual([false, 'maintenance']);
  expect(endOne(10)).toEqual([{ kind: 'circuitIsolationEnded', at: 10 }]);
  expect([endOne(11), breaker.check(11), breaker.isClosed]).toEqual([[], undefined, true]);
  expect(breaker.snapshot(11)).toMatchObject({
    state: 'closed',
    isIsolated: false,
    retryAfterMs: 0,
  });
});

describe('a restored circuit', () => {
  const saved = new CircuitBreaker().export(0);

  it.each([
    ['closed', [], ['circuitClosed']],
    ['half-open', ['circuitHalfOpen'], ['circuitHalfOpen']],
    ['open', ['circuitOpened'], ['circuitOpened']],
  ] as const)(
    'that is %s tells a state that it was not in before, and each opening',
    (state, fromClosed, fromOpen) => {
      for (const [breaker, events] of [
        [new CircuitBreaker({ failureRatio: 0.5 }), fromClosed],
        [opened(), fromOpen],
      ] as const) {
        breaker.restore({ ...saved, state, leftMs: 100 }, 50);
        expect(breaker.advance(50)).toMatchObject(events.map((kind) => ({ kind, at: 50 })));
        expect(breaker.advance(50)).toEqual([]);
      }
    },
  );

  it('is exported with the time that is left, and with a reason where there is one', () => {
    expect(saved).toStrictEqual({
      version: 1,
      state: 'closed',
      failures: 0,
      openMs: OPEN_MS,
      leftMs: 0,
    });
    const breaker = new CircuitBreaker();
    send(breaker, { fatal: 'quota' }, 0);
    expect(breaker.export(1_000)).toMatchObject({ leftMs: OPEN_MS - 1_000, reason: 'quota' });
  });
});

it('a probe whose end is told twice frees one place, not two', () => {
  const breaker = opened();
  const probe = breaker.enter(OPEN_MS);
  breaker.record(probe, 'ignored', OPEN_MS);
  breaker.record(probe, 'ignored', OPEN_MS);
  breaker.enter(OPEN_MS);
  expect(breaker.check(OPEN_MS)).toBeInstanceOf(CircuitOpenError);
});

it('refuses options that are none', () => {
  const make = (options: object) => () => new CircuitBreaker(options);
  expect(make({ consecutiveFailures: 0 })).toThrow(
    new RangeError('`consecutiveFailures` must be an integer >= 1, got 0'),
  );
  expect(make({ openMs: -1 })).toThrow('`openMs` must be a finite number >= 0, got -1');
  expect(make({ openMs: Number.NaN })).toThrow(RangeError);
  expect(make({ halfOpenProbes: 1.5 })).toThrow('`halfOpenProbes`');
  expect(make({ halfOpenProbes: '1' })).toThrow(TypeError);
});
