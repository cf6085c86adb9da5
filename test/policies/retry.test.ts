import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedbackKind, Verdict } from '../../src/model/feedback.ts';
import { type PastAttempts, RetryPolicy } from '../../src/policies/retry.ts';

const past = (failures: number, elapsedMs: number): PastAttempts => ({
  attempts: failures,
  failures,
  elapsedMs,
});

const unlimited = () => new RetryPolicy({});
const failed: Verdict = { kind: 'failed', retry: true };
const half = () => 0.5;

/** Uses up the budget for retries; returns how many there were. */
function exhaust(policy: RetryPolicy): number {
  let retries = 0;
  while (retries < 10_000 && policy.delay(failed, past(1, 0), half) !== undefined) retries += 1;
  return retries;
}

describe('the delay before a retry', () => {
  it('is a random part of 0.5 s, which doubles up to 8 s', () => {
    const policy = unlimited();
    const bounds = [1, 2, 3, 4, 5, 6, 100].map((attempts) =>
      policy.delay({ kind: 'overloaded' }, past(attempts, 0), () => 0.999_999),
    );
    const rounded = bounds.map((bound) => Math.round(bound as number));
    expect(rounded).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(policy.delay({ kind: 'overloaded' }, past(3, 0), () => 0)).toBe(1);
    expect(policy.delay({ kind: 'overloaded' }, past(3, 0), () => 0.25)).toBe(500);
  });

  it('of an overload does not double where all wait it out, and is never none', () => {
    const policy = new RetryPolicy({}, true);
    for (const attempts of [1, 5, 100]) {
      expect(policy.delay({ kind: 'overloaded' }, past(attempts, 0), half)).toBe(250);
      expect(policy.delay({ kind: 'overloaded' }, past(attempts, 0), () => 0)).toBe(1);
    }
    expect(policy.delay({ kind: 'throttled' }, past(1, 0), half)).toBe(0);
  });

  it('is never outside its bounds', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempts, random) => {
          const delay = unlimited().delay({ kind: 'overloaded' }, past(attempts, 0), () => random);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThan(Math.min(8_000, 500 * 2 ** (attempts - 1)));
        },
      ),
    );
  });

  it('is what the provider says, if it says something', () => {
    const verdict: Verdict = { kind: 'overloaded', retryAfterMs: 1_234 };
    expect(unlimited().delay(verdict, past(9, 0), half)).toBe(1_234);
    expect(unlimited().delay({ ...failed, retryAfterMs: 77 }, past(1, 0), half)).toBe(77);
  });

  it('is left to the backoff gate after a 429', () => {
    expect(unlimited().delay({ kind: 'throttled', retryAfterMs: 9_999 }, past(500, 0), half)).toBe(
      0,
    );
  });
});

describe('whether a request is sent again', () => {
  it.each<{ kind: FeedbackKind; retry?: boolean; attempts: number; again: boolean }>([
    { kind: 'throttled', attempts: 1_000_000, again: true },
    { kind: 'overloaded', attempts: 1_000_000, again: true },
    { kind: 'throttled', retry: false, attempts: 1, again: false },
    { kind: 'overloaded', retry: false, attempts: 1, again: false },
    { kind: 'failed', attempts: 1, again: false },
    { kind: 'failed', retry: true, attempts: 1, again: true },
    { kind: 'failed', retry: true, attempts: 2, again: true },
    { kind: 'failed', retry: true, attempts: 3, again: false },
    { kind: 'fatal', attempts: 1, again: false },
    { kind: 'fatal', retry: true, attempts: 2, again: true },
    { kind: 'fatal', retry: true, attempts: 3, again: false },
  ])('$kind, retry $retry, after $attempts attempts: $again', ({ attempts, again, ...verdict }) => {
    expect(unlimited().delay(verdict, past(attempts, 0), half) !== undefined).toBe(again);
  });

  it.each(['throttled', 'overloaded'] as const)('%s: not beyond maxAttempts', (kind) => {
    const policy = new RetryPolicy({ maxAttempts: 2 });
    expect(policy.delay({ kind }, past(1, 0), half)).toBeDefined();
    expect(policy.delay({ kind }, past(2, 0), half)).toBeUndefined();
  });

  it('not when the next attempt would start at the deadline or later', () => {
    const policy = new RetryPolicy({ deadlineMs: 1_000 });
    expect(policy.deadlineMs).toBe(1_000);
    expect(policy.delay({ kind: 'throttled' }, past(1, 999), half)).toBe(0);
    expect(policy.delay({ kind: 'throttled' }, past(1, 1_000), half)).toBe(Infinity);
    // Half of 500 ms.
    expect(policy.delay({ kind: 'overloaded' }, past(1, 749), half)).toBe(250);
    expect(policy.delay({ kind: 'overloaded' }, past(1, 750), half)).toBe(Infinity);
  });
});

describe('a request whose connections failed', () => {
  const broken: Verdict = { ...failed, connection: 'broken' };
  const broke = (unreached: number, isOut = false) => ({ ...past(0, 0), unreached, isOut });

  it('is sent three times, and in an outage as often as it takes', () => {
    expect(unlimited().delay(broken, broke(2), half)).toBe(500);
    expect(unlimited().delay(broken, broke(3), half)).toBeUndefined();
    expect(unlimited().delay(broken, broke(3, true), half)).toBe(0);
  });

  it('is sent again after an answer as any other', () => {
    expect(unlimited().delay(failed, { ...broke(3), failures: 1 }, half)).toBe(2_000);
  });
});

describe('the budget for retries', () => {
  it('is at rest while it is full', () => {
    const policy = unlimited();
    expect(policy.isAtRest).toBe(true);
    policy.delay(failed, past(1, 0), half);
    for (let n = 0; n < 4; n += 1) policy.succeeded();
    expect(policy.isAtRest).toBe(false);
    policy.succeeded();
    expect(policy.isAtRest).toBe(true);
  });

  it('stops them after a hundred without a success', () => {
    expect(exhaust(unlimited())).toBe(100);
  });

  it.each([
    [1, 0],
    [4, 0],
    [5, 1],
    [9, 1],
    [10, 2],
    [1_000_000, 100],
  ])(
    'gets back a fifth of a retry a success: %i successes are %i retries',
    (successes, retries) => {
      const policy = unlimited();
      exhaust(policy);
      for (let n = 0; n < successes; n += 1) policy.succeeded();
      expect(exhaust(policy)).toBe(retries);
    },
  );

  it('counts exactly from any level', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 80 }),
        fc.integer({ min: 0, max: 20 }),
        (spent, earned) => {
          const policy = unlimited();
          for (let n = 0; n < 100 - spent; n += 1) policy.delay(failed, past(1, 0), half);
          for (let n = 0; n < earned * 5; n += 1) policy.succeeded();
          expect(exhaust(policy)).toBe(Math.min(100, spent + earned));
        },
      ),
    );
  });

  it('is touched neither by retries that the provider asked for, nor by refused ones, nor by failed connections', () => {
    const policy = new RetryPolicy({ maxAttempts: 5, deadlineMs: 1_000 });
    for (let n = 0; n < 200; n += 1) {
      policy.delay({ kind: 'throttled' }, past(1, 0), half);
      policy.delay({ kind: 'overloaded' }, past(1, 0), half);
      policy.delay(failed, past(3, 0), half);
      policy.delay(failed, past(1, 1_000), half);
      policy.delay({ ...failed, connection: 'broken' }, past(1, 0), half);
    }
    expect(exhaust(policy)).toBe(100);
  });

  it('is charged for whatever else a classifier wants sent again', () => {
    const policy = unlimited();
    let retries = 0;
    while (
      retries < 1_000 &&
      policy.delay({ kind: 'fatal', retry: true }, past(1, 0), half) !== undefined
    ) {
      retries += 1;
    }
    expect(retries).toBe(100);
  });

  it('does not stop requests that were throttled or met an overload', () => {
    const policy = unlimited();
    exhaust(policy);
    expect(policy.delay({ kind: 'throttled' }, past(1, 0), half)).toBe(0);
    expect(policy.delay({ kind: 'overloaded' }, past(1, 0), half)).toBe(250);
  });
});
