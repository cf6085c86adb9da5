import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closestMatch, editDistance } from '../../src/util/closest-match.ts';

describe('the edit distance', () => {
  it.each([
    ['', '', 0],
    ['limit', 'limit', 0],
    ['', 'abc', 3],
    ['limt', 'limit', 1],
    ['limmit', 'limit', 1],
    ['limut', 'limit', 1],
    ['limti', 'limit', 1],
    ['ilmti', 'limit', 2],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
    ['abcdef', 'badcfe', 3],
  ])('from %j to %j is %i, both ways', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
  });

  it('is 0 for the same word only, and never more than the longer word or less than the difference', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(word, word, (from, to) => {
        const distance = editDistance(from, to);
        expect(distance === 0).toBe(from === to);
        expect(distance).toBeLessThanOrEqual(Math.max(from.length, to.length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(from.length - to.length));
        expect(editDistance(to, from)).toBe(distance);
      }),
    );
  });
});

describe('the nearest word', () => {
  const known = ['concurrency', 'maxBytes', 'maxQueue', 'pace', 'per', 'windowMs'];

  it.each([
    ['concurency', 'concurrency'],
    ['concurrenyc', 'concurrency'],
    ['CONCURRENCY', 'concurrency'],
    ['max_queue', 'maxQueue'],
    ['max-byte', 'maxBytes'],
    ['pase', 'pace'],
    ['pre', 'per'],
    ['concurency_', 'concurrency'],
  ])('to %j is %j', (word, meant) => {
    expect(closestMatch(word, known)).toBe(meant);
  });

  it.each(['', 'x', 'currency', 'maximum', 'spice', 'p', '__proto__', 'constructor'])(
    'to %j is none of them',
    (word) => {
      expect(closestMatch(word, known)).toBeUndefined();
    },
  );

  it('allows a mistake in four letters, and one in shorter words', () => {
    expect(closestMatch('abcdefg', ['abcdexy'])).toBeUndefined();
    expect(closestMatch('abcdefgh', ['abcdefxy'])).toBe('abcdefxy');
    expect(closestMatch('ab', ['ax'])).toBe('ax');
  });

  it('is the one with the fewest mistakes, or the first of several', () => {
    expect(closestMatch('intervalXX', ['intervalYY', 'intervalXY', 'intervalYX'])).toBe(
      'intervalXY',
    );
    expect(closestMatch('intervalXX', ['intervalXY', 'intervalXX', 'interval'])).toBe('intervalXX');
    expect(closestMatch('abcd', [])).toBeUndefined();
  });
});
