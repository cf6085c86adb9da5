import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../src/policies/circuit-breaker.ts';
import type { CircuitResult } from '../../../src/policies/circuit-types.ts';

/** Records results, each `stepMs` after the last. @returns the state after each */
function play(breaker: CircuitBreaker, results: string, stepMs = 10): string[] {
  return [...results].map((result, index) => {
    const now = index * stepMs;
    const ended = result === 'x' ? 'failed' : result === '?' ? 'ignored' : 'ok';
    breaker.recordUnasked(ended, now);
    return breaker.snapshot(now).state;
  });
}

describe('a circuit breaker by ratio', () => {
  it('opens at the ratio, with the least number of requests, whatever their order', () => {
    const half = { failureRatio: 0.5, leastRequests: 4, windowMs: 1_000 };
    expect(play(new CircuitBreaker(half), 'x.x.').at(-1)).toBe('closed');
    expect(play(new CircuitBreaker(half), '.x.x').at(-1)).toBe('open');
    expect(play(new CircuitBreaker(half), 'xxx').at(-1)).toBe('closed');
    expect(play(new CircuitBreaker(half), 'xxxx').at(-1)).toBe('open');
    expect(play(new CircuitBreaker(half), '..x?????x').at(-1)).toBe('open');
    expect(play(new CircuitBreaker(half), '...x?????x').at(-1)).toBe('closed');
  });

  it('forgets what is older than the window, and all when it changes its state', () => {
    const breaker = new CircuitBreaker({ failureRatio: 0.5, leastRequests: 3, windowMs: 100 });
    expect(play(breaker, 'x.x.x', 60).at(-1)).toBe('closed');
    const opened = new CircuitBreaker({ failureRatio: 0.5, leastRequests: 2, openMs: 50 });
    play(opened, 'xx');
    opened.record(opened.enter(100), 'ok', 100);
    expect(opened.snapshot(100)).toMatchObject({
      state: 'closed',
      recent: { requests: 0, failures: 0 },
    });
  });

  it('counts failures in a row only where both are given', () => {
    const ratio = { failureRatio: 1, leastRequests: 100 };
    expect(play(new CircuitBreaker(ratio), 'x'.repeat(50)).at(-1)).toBe('closed');
    const both = new CircuitBreaker({ ...ratio, consecutiveFailures: 3 });
    expect(play(both, 'xxx').at(-1)).toBe('open');
    expect(play(new CircuitBreaker(), 'x'.repeat(10)).at(-1)).toBe('open');
  });

  it.each([
    [{ failureRatio: 1.1 }, 'failureRatio'],
    [{ failureRatio: Number.NaN }, 'failureRatio'],
    [{ failureRatio: 0.5, windowMs: 0 }, 'windowMs'],
    [{ failureRatio: 0.5, leastRequests: 0 }, 'leastRequests'],
    [{ windowMs: 1_000 }, 'failureRatio'],
    [{ leastRequests: 5 }, 'failureRatio'],
  ])('refuses %o by name', (options, name) => {
    expect(() => new CircuitBreaker(options)).toThrow(`\`${name}\``);
  });

  it('opens exactly when the ratio of the window says so (generated)', () => {
    const step = fc.record({
      result: fc.constantFrom<CircuitResult>('ok', 'ok', 'failed', 'ignored'),
      laterMs: fc.constantFrom(0, 3, 10, 40, 200),
    });
    const rules = fc.record({
      failureRatio: fc.constantFrom(0, 0.25, 0.5, 1),
      leastRequests: fc.integer({ min: 1, max: 6 }),
      windowMs: fc.constantFrom(50, 100),
    });
    fc.assert(
      fc.property(rules, fc.array(step, { maxLength: 50 }), (options, steps) => {
        const breaker = new CircuitBreaker({ ...options, openMs: 1e9 });
        const partMs = options.windowMs / 10;
        let ended: { part: number; failed: boolean }[] = [];
        let now = 0;
        for (const { result, laterMs } of steps) {
          now += laterMs;
          breaker.recordUnasked(result, now);
          const part = Math.floor(now / partMs);
          if (result !== 'ignored') ended.push({ part, failed: result === 'failed' });
          ended = ended.filter((one) => part - one.part < 10);
          const failures = ended.filter(({ failed }) => failed).length;
          const isOpen =
            result === 'failed' &&
            ended.length >= options.leastRequests &&
            failures / ended.length >= options.failureRatio;
          expect(breaker.snapshot(now).state).toBe(isOpen ? 'open' : 'closed');
          if (isOpen) return;
        }
      }),
    );
  });

  it('goes on from an export as it would have gone on itself (generated)', () => {
    const results = fc.array(fc.constantFrom<CircuitResult>('ok', 'failed', { fatal: 'quota' }), {
      maxLength: 12,
    });
    const rules = fc.record({
      consecutiveFailures: fc.integer({ min: 1, max: 4 }),
      ratio: fc.option(
        fc.record({
          failureRatio: fc.constantFrom(0.3, 0.6),
          leastRequests: fc.integer({ min: 1, max: 3 }),
        }),
      ),
      openMs: fc.constantFrom(0, 20, 100),
    });
    const law = fc.property(
      rules,
      results,
      results,
      fc.nat(60),
      ({ ratio, ...others }, before, after, later) => {
        const options = { ...others, ...ratio };
        const one = new CircuitBreaker(options);
        let now = 0;
        const feed = (breaker: CircuitBreaker, result: CircuitResult, at: number) => {
          if (breaker.check(at) === undefined) breaker.record(breaker.enter(at), result, at);
          breaker.advance(at);
        };
        for (const result of before) {
          now += 7;
          feed(one, result, now);
        }
        now += later;
        // Another process has a clock of its own.
        const shift = 1_000;
        const other = new CircuitBreaker(options);
        other.restore(JSON.parse(JSON.stringify(one.export(now))), now + shift);
        for (const result of after) {
          const { recent: _, ...seen } = other.snapshot(now + shift);
          expect(seen).toEqual({ ...one.snapshot(now), recent: undefined, ...seenOnly(one, now) });
          now += 1;
          feed(one, result, now);
          feed(other, result, now + shift);
        }
      },
    );
    fc.assert(law);
  });
});

function seenOnly(breaker: CircuitBreaker, now: number) {
  const { recent: _, ...seen } = breaker.snapshot(now);
  return seen;
}
