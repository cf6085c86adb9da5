import { describe, expect, it } from 'vitest';
import {
  checkAmount,
  checkBoolean,
  checkChoice,
  checkFunction,
  checkInteger,
  checkKeys,
  checkNumber,
  show,
} from '../../src/util/check.ts';

/** Runs a check that must throw; returns the type and the message of its error. */
function refusal(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    return `${(error as Error).constructor.name}: ${(error as Error).message}`;
  }
  return 'passed';
}

const numbers: [value: unknown, refusal: string][] = [
  [Number.NaN, 'RangeError: `limit` must be BOUND, got NaN'],
  [Number.POSITIVE_INFINITY, 'RangeError: `limit` must be BOUND, got Infinity'],
  [Number.NEGATIVE_INFINITY, 'RangeError: `limit` must be BOUND, got -Infinity'],
  [-1, 'RangeError: `limit` must be BOUND, got -1'],
  ['12', 'TypeError: `limit` must be BOUND, got "12"'],
  ['', 'TypeError: `limit` must be BOUND, got ""'],
  ['say "no"', 'TypeError: `limit` must be BOUND, got "say \\"no\\""'],
  [12n, 'TypeError: `limit` must be BOUND, got 12n'],
  [null, 'TypeError: `limit` must be BOUND, got null'],
  [undefined, 'TypeError: `limit` must be BOUND, got undefined'],
  [true, 'TypeError: `limit` must be BOUND, got true'],
  [{ limit: 1 }, 'TypeError: `limit` must be BOUND, got an object'],
  [[3, 4], 'TypeError: `limit` must be BOUND, got an array of 2'],
  [() => 3, 'TypeError: `limit` must be BOUND, got a function'],
  [Symbol('s'), 'TypeError: `limit` must be BOUND, got Symbol(s)'],
  [new Date(0), 'TypeError: `limit` must be BOUND, got an object'],
  [Promise.resolve(3), 'TypeError: `limit` must be BOUND, got a promise'],
  [{ valueOf: () => 3 }, 'TypeError: `limit` must be BOUND, got an object'],
];

describe('a check of a number', () => {
  it.each(numbers)('refuses %o by name, bound and value', (value, message) => {
    const integer = refusal(() => checkInteger('limit', value, 1));
    expect(integer).toBe(message.replace('BOUND', 'an integer >= 1'));
    const finite = refusal(() => checkNumber('limit', value, 0));
    expect(finite).toBe(message.replace('BOUND', 'a finite number >= 0'));
    const amount = refusal(() => checkAmount('limit', value));
    expect(amount).toBe(message.replace('BOUND', 'a finite number >= 0'));
  });

  it('of an integer takes no fractions, nor what is too large to be counted', () => {
    const bound = 'RangeError: `limit` must be an integer >= 0, got';
    expect(refusal(() => checkInteger('limit', 1.5, 0))).toBe(`${bound} 1.5`);
    expect(refusal(() => checkInteger('limit', 2 ** 53, 0))).toBe(`${bound} 9007199254740992`);
    expect(checkInteger('limit', 2 ** 53 - 1, 0)).toBe(2 ** 53 - 1);
    const any = refusal(() => checkInteger('priority', 0.5, Number.MIN_SAFE_INTEGER));
    expect(any).toBe('RangeError: `priority` must be an integer, got 0.5');
  });

  it('takes the bound itself, and nothing below', () => {
    expect(checkInteger('limit', 1, 1)).toBe(1);
    expect(checkInteger('limit', 0, 0)).toBe(0);
    expect(checkNumber('limit', 0.5, 0.5)).toBe(0.5);
    expect(refusal(() => checkNumber('limit', 0.49, 0.5))).toContain('a finite number >= 0.5');
    expect(refusal(() => checkInteger('limit', 0, 1))).toContain('an integer >= 1, got 0');
  });

  it('of a size rounds up', () => {
    expect([0, 1, 0.001, 1.5, 2 ** 53].map((size) => checkAmount('bytes', size))).toEqual([
      0,
      1,
      1,
      2,
      2 ** 53,
    ]);
    expect(refusal(() => checkAmount('bytes', -0.001))).toContain('got -0.001');
    expect(refusal(() => checkAmount('tokens', 1e300))).toBe(
      'RangeError: `tokens` must be a number from 0 to 9007199254740992, got 1e+300',
    );
  });
});

describe('other checks', () => {
  it('want a function', () => {
    checkFunction('project', () => {});
    checkFunction('project', class {});
    expect(refusal(() => checkFunction('project', 'run'))).toBe(
      'TypeError: `project` must be a function, got "run"',
    );
    expect(refusal(() => checkFunction('project', Number.NaN))).toContain('got NaN');
  });

  it('want true or false', () => {
    checkBoolean('ordered', false);
    const message = 'TypeError: `ordered` must be true or false, got "yes"';
    expect(refusal(() => checkBoolean('ordered', 'yes'))).toBe(message);
    expect(refusal(() => checkBoolean('ordered', null))).toContain('got null');
    expect(refusal(() => checkBoolean('ordered', 1))).toContain('got 1');
  });

  it('want one of a few words', () => {
    expect(checkChoice('reopen', 'all', ['probe', 'all'])).toBe('all');
    expect(refusal(() => checkChoice('reopen', 'ALL', ['probe', 'all']))).toBe(
      'TypeError: `reopen` must be one of "probe", "all", got "ALL"',
    );
    expect(refusal(() => checkChoice('reopen', undefined, ['probe']))).toContain('got undefined');
  });

  it('want an object of known options', () => {
    checkKeys('throttle', {}, ['limit']);
    checkKeys('throttle', { limit: undefined }, ['limit']);
    expect(refusal(() => checkKeys('throttle', Promise.resolve({}), []))).toBe(
      'TypeError: the options of throttle must be an object, got a promise: await it first',
    );
    expect(refusal(() => checkKeys('throttle', { limt: 3 }, ['clock', 'limit']))).toBe(
      'TypeError: `limt` is no option of throttle; did you mean `limit`? It takes clock, limit',
    );
    expect(refusal(() => checkKeys('throttle', { speed: 3 }, ['limit', 'clock']))).toBe(
      'TypeError: `speed` is no option of throttle; it takes limit, clock',
    );
    expect(refusal(() => checkKeys('throttle', { limit: 3, speed: 3 }, ['limit']))).toContain(
      '`speed` is no option',
    );
    for (const key of ['__proto__', 'constructor', 'toString']) {
      const options: unknown = JSON.parse(`{ "${key}": 1 }`);
      const message = refusal(() => checkKeys('throttle', options, ['limit']));
      expect(message).toBe(`TypeError: \`${key}\` is no option of throttle; it takes limit`);
    }
    for (const [value, shown] of [
      [null, 'null'],
      [[], 'an array of 0'],
      [400, '400'],
      ['400', '"400"'],
      [undefined, 'undefined'],
    ] as const) {
      const message = refusal(() => checkKeys('throttle', value, ['limit']));
      expect(message).toMatch(/^TypeError: the options of throttle must be an object, got /);
      expect(message.endsWith(`got ${shown}`)).toBe(true);
    }
  });

  it('show any value at all', () => {
    expect(show(Object.create(null))).toBe('an object');
    expect(show(-0)).toBe('0');
  });
});
