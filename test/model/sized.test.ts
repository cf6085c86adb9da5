import { describe, expect, it } from 'vitest';
import { Chunk, Sized } from '../../src/model/sized.ts';

describe('Sized', () => {
  it('has whole bytes and tokens, rounded up; a token is four bytes unless said otherwise', () => {
    expect(new Sized('x', 10)).toMatchObject({ value: 'x', bytes: 10, tokens: 3 });
    expect(new Sized('x', 10.2)).toMatchObject({ bytes: 11, tokens: 3 });
    expect(new Sized('x', 0)).toMatchObject({ bytes: 0, tokens: 0 });
    expect(new Sized('x', 10, 6.1)).toMatchObject({ bytes: 10, tokens: 7 });
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])('refuses a size of %d', (size) => {
    const bound = `must be a finite number >= 0, got ${size}`;
    expect(() => new Sized('x', size)).toThrow(new RangeError(`\`bytes\` ${bound}`));
    expect(() => new Sized('x', 1, size)).toThrow(new RangeError(`\`tokens\` ${bound}`));
  });

  it('is a chunk too, which knows why it was closed', () => {
    const chunk = new Chunk(['a', 'b'], 10, 4, 'delay');
    expect(chunk).toBeInstanceOf(Sized);
    expect(chunk).toMatchObject({ value: ['a', 'b'], bytes: 10, tokens: 4, reason: 'delay' });
  });
});
