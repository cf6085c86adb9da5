import { describe, expect, it } from 'vitest';
import {
  boundOf,
  checkValue,
  flag,
  integer,
  isAccepted,
  number,
  type Option,
  orInfinity,
  upTo,
  word,
} from '../../src/policies/option.ts';
import { errorOf } from '../options/configs.ts';

/** Of each kind: its bound, and a wrong value with the bound in the words of the checks. */
const kinds: readonly [bound: string, option: Option, wrong: unknown, checked: string][] = [
  ['an integer >= 2', integer(2, 3, '', ''), 1, 'an integer >= 2, got 1'],
  ['a finite number >= 2', number(2, 3, '', ''), 1.5, 'a finite number >= 2, got 1.5'],
  [
    'an integer >= 2 or Infinity',
    orInfinity(integer(2, 3, '', '')),
    -Infinity,
    'an integer >= 2 or Infinity, got -Infinity',
  ],
  [
    'a number >= 2 or Infinity',
    orInfinity(number(2, 3, '', '')),
    1.5,
    'a number >= 2 or Infinity, got 1.5',
  ],
  ['an integer from 1 to 9', upTo(9, integer(1, 3, '', '')), 10, 'a number from 1 to 9, got 10'],
  ['an integer from 1 to 9', upTo(9, integer(1, 3, '', '')), 8.5, 'an integer >= 1, got 8.5'],
  ['a number from 0 to 1', upTo(1, number(0, 1, '', '')), 1.1, 'a number from 0 to 1, got 1.1'],
  ['a number from 0 to 1', upTo(1, number(0, 1, '', '')), '1', 'a finite number >= 0, got "1"'],
  ['one of "a", "b"', word(['a', 'b'], 'a', ''), 'c', 'one of "a", "b", got "c"'],
  ['true or false', flag(false, ''), 'true', 'true or false, got "true"'],
];

describe('an option', () => {
  it.each(kinds)('has the bound %s', (bound, option, wrong, checked) => {
    expect(boundOf(option.kind)).toBe(bound);
    expect(errorOf(() => checkValue('x', option, wrong)).message).toBe(`\`x\` must be ${checked}`);
    expect(isAccepted(option, wrong)).toBe(false);
  });

  it('takes Infinity where that takes a bound away, and else does not', () => {
    const count = integer(2, 3, '', '');
    expect(isAccepted(orInfinity(count), Number.POSITIVE_INFINITY)).toBe(true);
    expect(isAccepted(count, Number.POSITIVE_INFINITY)).toBe(false);
  });
});
