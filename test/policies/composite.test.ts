import { describe, expect, it } from 'vitest';
import type { GateKind } from '../../src/model/outcome.ts';
import { Composite } from '../../src/policies/composite.ts';
import { type CompletedAttempt, type Policy, REFUSED } from '../../src/policies/policy.ts';
import { demand } from '../support/waiter.ts';

const ENDED: CompletedAttempt = {
  ...demand(),
  isSent: true,
  verdict: undefined,
  usage: undefined,
  epoch: 0,
};

/**
 * A policy that answers with `waitMs`, charges `charge`, and notes in `log` what is asked of it.
 */
function part(kind: GateKind, log: string[], { waitMs = 0, charge = 1 as unknown } = {}) {
  const policy: Policy & { waitMs: number; nextChangeAt: number; advanced: number[] } = {
    waitMs,
    nextChangeAt: Number.POSITIVE_INFINITY,
    advanced: [],
    wait: () => policy.waitMs,
    refusal: () => new Error(kind),
    take: (_demand, now) => {
      log.push(`take ${kind} at ${now}`);
      return charge;
    },
    giveBack: (given, _ended, time) =>
      log.push(`give back ${String(given)} ${kind} at ${time.now()}`),
    advance: (now) => policy.advanced.push(now),
    snapshot: () => ({}),
  };
  return { kind, policy };
}

describe('several policies as one', () => {
  it('let a request pass when all of them do', () => {
    const log: string[] = [];
    const parts = [part('circuitBreaker', log), part('rateLimit', log), part('pace', log)] as const;
    const composite = new Composite(parts);
    expect(composite.wait(demand(), 5)).toBe(0);
    for (const { policy } of parts) {
      policy.waitMs = 7;
      expect(composite.wait(demand(), 5)).toBe(7);
      policy.waitMs = 0;
    }
  });

  it('charge nothing while they ask, and all at once then, each at the same time', () => {
    const log: string[] = [];
    const composite = new Composite([part('rateLimit', log, { waitMs: 3 }), part('pace', log)]);
    composite.wait(demand(), 5);
    expect(log).toEqual([]);
    composite.take(demand(), 8);
    expect(log).toEqual(['take rateLimit at 8', 'take pace at 8']);
  });

  it('take the longest wait, and name who needs it, whatever the order', () => {
    const waits = { backoff: 20, rateLimit: 300, pace: 100 } as const;
    for (const kinds of [
      ['backoff', 'rateLimit', 'pace'],
      ['rateLimit', 'pace', 'backoff'],
      ['pace', 'backoff', 'rateLimit'],
    ] as const) {
      const parts = kinds.map((kind) => part(kind, [], { waitMs: waits[kind] }));
      const composite = new Composite(parts);
      expect(composite.wait(demand(), 0)).toBe(300);
      expect(composite.binding).toBe('rateLimit');
    }
  });

  it('keep naming who bound last when nobody does', () => {
    const pace = part('pace', [], { waitMs: 9 });
    const composite = new Composite([part('backoff', []), pace]);
    composite.wait(demand(), 0);
    pace.policy.waitMs = 0;
    expect(composite.wait(demand(), 9)).toBe(0);
    expect(composite.binding).toBe('pace');
  });

  it.each([[3], [Number.POSITIVE_INFINITY]])(
    'refuse though another would have it wait for %s ms',
    (waitMs) => {
      for (const refuserIsFirst of [true, false]) {
        const refuser = part('circuitBreaker', [], { waitMs: REFUSED });
        const other = part('rateLimit', [], { waitMs });
        const composite = new Composite(refuserIsFirst ? [refuser, other] : [other, refuser]);
        expect(composite.wait(demand(), 0)).toBe(REFUSED);
        expect(composite.binding).toBe('circuitBreaker');
        expect(composite.refusal(demand(), 0).message).toBe('circuitBreaker');
      }
    },
  );

  it('ask nobody after one that has refused', () => {
    const refuser = part('circuitBreaker', [], { waitMs: REFUSED });
    for (let place = 0; place < 6; place += 1) {
      const asked: number[] = [];
      const parts = Array.from({ length: 6 }, (_, index) => {
        const { kind, policy } = index === place ? refuser : part('pace', []);
        const wait = () => {
          asked.push(index);
          return policy.wait(demand(), 0);
        };
        return { kind, policy: { ...policy, wait } };
      });
      expect(new Composite(parts).wait(demand(), 0)).toBe(REFUSED);
      expect(asked).toEqual(Array.from({ length: place + 1 }, (_, index) => index));
    }
  });

  it('are six at the most', () => {
    const parts = Array.from({ length: 7 }, () => part('pace', []));
    expect(() => new Composite(parts)).toThrow('`parts` must be at most 6, got 7');
    const log: string[] = [];
    const most = Array.from({ length: 6 }, (_, index) => part('pace', log, { charge: index + 1 }));
    const composite = new Composite(most);
    const charges = composite.take(demand(), 0);
    log.length = 0;
    composite.giveBack(charges, ENDED, { now: () => 7 });
    expect(log).toEqual([6, 5, 4, 3, 2, 1].map((charge) => `give back ${charge} pace at 7`));
  });

  it('give back in reverse, at one time, and only what was charged', () => {
    const log: string[] = [];
    const composite = new Composite([
      part('backoff', log, { charge: 'a' }),
      part('rateLimit', log, { charge: 'b' }),
      part('pace', log, { charge: 0 }),
      part('concurrency', log, { charge: 'd' }),
    ]);
    const charges = composite.take(demand(), 1);
    log.length = 0;
    const times = [10, 20, 30];
    composite.giveBack(charges, ENDED, { now: () => times.shift() ?? 0 });
    expect(log).toEqual([
      'give back d concurrency at 10',
      'give back b rateLimit at 10',
      'give back a backoff at 10',
    ]);
  });

  it('change when the first of them does, and tell all of the time', () => {
    const [one, other] = [part('circuitBreaker', []), part('concurrency', [])] as const;
    const { advance: _, nextChangeAt: __, ...plain } = part('rateLimit', []).policy;
    const composite = new Composite([one, { kind: 'rateLimit', policy: plain }, other]);
    expect(composite.nextChangeAt).toBe(Number.POSITIVE_INFINITY);
    one.policy.nextChangeAt = 70;
    expect(composite.nextChangeAt).toBe(70);
    other.policy.nextChangeAt = 60;
    expect(composite.nextChangeAt).toBe(60);
    composite.advance(65);
    expect([one.policy.advanced, other.policy.advanced]).toEqual([[65], [65]]);
  });
});
