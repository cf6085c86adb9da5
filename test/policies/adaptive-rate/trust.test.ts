import { describe, expect, it } from 'vitest';
import { Trust } from '../../../src/policies/adaptive-rate/trust.ts';

/** How many may go in a row. */
function mayGo(trust: Trust, most = 1_000): number {
  let count = 0;
  while (trust.mayGo && count < most) {
    trust.spend();
    count += 1;
  }
  return count;
}

function trustOf(left: number): Trust {
  return new Trust(left);
}

describe('trust', () => {
  it('lets 16 go while nothing is verified', () => {
    expect(mayGo(new Trust())).toBe(16);
  });

  it('lets twice as many go as were accepted', () => {
    const trust = trustOf(0);
    for (let n = 0; n < 10; n += 1) trust.earn(100);
    expect(mayGo(trust)).toBe(20);
  });

  it('keeps no more than it is told, but 16', () => {
    const much = trustOf(0);
    for (let n = 0; n < 100; n += 1) much.earn(30);
    expect(mayGo(much)).toBe(30);
    const little = trustOf(0);
    for (let n = 0; n < 100; n += 1) little.earn(1);
    expect(mayGo(little)).toBe(16);
  });

  it('has no bound where nothing was ever rejected', () => {
    const trust = trustOf(0);
    for (let n = 0; n < 400; n += 1) trust.earn(Number.POSITIVE_INFINITY);
    expect(mayGo(trust)).toBe(800);
  });

  it('is lost whole by a rejection of what was sent after the last reaction', () => {
    const trust = trustOf(500);
    trust.lose(true);
    expect(trust.mayGo).toBe(false);
  });

  it('is lost by two for a rejection of what was out already', () => {
    const trust = trustOf(20);
    trust.lose(false);
    expect(mayGo(trust)).toBe(18);
  });

  it('is never less than none', () => {
    const trust = trustOf(0);
    for (let n = 0; n < 10; n += 1) trust.lose(true);
    trust.earn(10);
    expect(mayGo(trust)).toBe(2);
  });
});
