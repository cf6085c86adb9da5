import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLimiterConfig } from '../../src/options/check-config.ts';
import { KEYS, TABLE } from '../../src/options/limiter-config.ts';
import { STRATEGIES } from '../../src/policies/adaptive.ts';
import { editDistance } from '../../src/util/closest-match.ts';
import {
  allValuesOf,
  configs,
  configWith,
  errorOf,
  NAMED_ROWS,
  treeOf,
  wrongValuesOf,
} from './configs.ts';

const check = (config: unknown, extra?: readonly string[]) =>
  checkLimiterConfig('createLimiter', config, extra);

describe.each(NAMED_ROWS)('$path', ({ path, option }) => {
  it('takes every value that it says it takes, and undefined', () => {
    fc.assert(fc.property(allValuesOf(option.kind), (value) => check(configWith(path, value))));
    const { kind } = option;
    if ('least' in kind) check(configWith(path, kind.least));
    if ('most' in kind) check(configWith(path, kind.most));
    if (option.default !== 'required') check(configWith(path, undefined));
  });

  it('refuses every other value by its path, its bound and the value', () => {
    const isGroup = path === 'circuitBreaker' || path === 'adaptive';
    for (const value of wrongValuesOf(option.kind)) {
      // An object there is the group.
      if (isGroup && typeof value === 'object' && value !== null && !Array.isArray(value)) continue;
      const error = errorOf(() => check(configWith(path, value)));
      expect(error.message).toMatch(/^`([^`]+)` must be [^,].*, got [^,]+$/);
      expect(error.message).toContain(`\`${path}\` must be `);
      expect(error).toBeInstanceOf(
        typeof value === 'number' && !isWord(option.kind.type) ? RangeError : TypeError,
      );
    }
  });
});

function isWord(type: string): boolean {
  return type === 'word' || type === 'boolean';
}

describe('a configuration', () => {
  it('may have any of the options', () => {
    check({});
    for (const strategy of STRATEGIES) {
      fc.assert(fc.property(configs(strategy), (config) => check(config)));
    }
    for (const adaptive of [false, ...STRATEGIES]) check({ adaptive });
    check({ circuitBreaker: true, adaptive: 'failures', limits: { a: { limit: 1, windowMs: 1 } } });
    check({ circuitBreaker: {}, backoff: {}, pace: {} });
    check({ concurrency: undefined, backoff: undefined, limits: undefined, adaptive: undefined });
  });

  it.each([
    [{ concurrency: Number.NaN }, 'RangeError: `concurrency` must be an integer >= 1, got NaN'],
    [
      { backoff: { backoffMs: 0 } },
      'RangeError: `backoff.backoffMs` must be an integer >= 1, got 0',
    ],
    [{ pace: { jitter: 2 } }, 'RangeError: `pace.jitter` must be a number from 0 to 1, got 2'],
    [
      { milestonePercent: 101 },
      'RangeError: `milestonePercent` must be a number from 1 to 100, got 101',
    ],
    [{ onLimit: 'Wait' }, 'TypeError: `onLimit` must be one of "wait", "fail", got "Wait"'],
    [
      { circuitBreaker: 'on' },
      'TypeError: `circuitBreaker` must be true or false, or an object of options, got "on"',
    ],
    [
      { adaptive: 'cooling' },
      'TypeError: `adaptive` must be one of "rate", "latency", "failures", false, or an object of options, got "cooling"',
    ],
    [
      { adaptive: null },
      'TypeError: `adaptive` must be one of "rate", "latency", "failures", false, or an object of options, got null',
    ],
    [
      { adaptive: true },
      'TypeError: `adaptive` must be one of "rate", "latency", "failures", false, or an object of options, got true',
    ],
    [
      { adaptive: {} },
      'TypeError: `adaptive.strategy` must be one of "rate", "latency", "failures", got undefined',
    ],
    [
      { adaptive: { strategy: 'gradient' } },
      'TypeError: `adaptive.strategy` must be one of "rate", "latency", "failures", got "gradient"',
    ],
    [
      { adaptive: { strategy: 'rate', initialLimit: 0 } },
      'RangeError: `adaptive.initialLimit` must be an integer >= 1, got 0',
    ],
    [{ backoff: 5 }, 'TypeError: the options of backoff must be an object, got 5'],
    [{ pace: null }, 'TypeError: the options of pace must be an object, got null'],
    [{ limits: [] }, 'TypeError: `limits` must be an object of named limits, got an array of 0'],
    [{ limits: null }, 'TypeError: `limits` must be an object of named limits, got null'],
    [{ limits: {} }, 'TypeError: `limits` must name at least 1 limit, got none'],
    [{ limits: { rpm: 10 } }, 'TypeError: the options of limits.rpm must be an object, got 10'],
    [
      { limits: { rpm: undefined } },
      'TypeError: the options of limits.rpm must be an object, got undefined',
    ],
    [
      { limits: { rpm: { windowMs: 1 } } },
      'TypeError: `limits.rpm.limit` must be a finite number >= 1, got undefined',
    ],
    [
      { limits: { rpm: { limit: 1 } } },
      'TypeError: `limits.rpm.windowMs` must be a number >= 1 or Infinity, got undefined',
    ],
    [
      { limits: { constructor: { limit: 1, windowMs: 1 } } },
      'TypeError: `limits` cannot have the name "constructor": every object has it',
    ],
    [
      { limits: { '': { limit: 1, windowMs: 1 } } },
      'TypeError: `limits` cannot have the name "": a name is not empty',
    ],
    [null, 'TypeError: the options of createLimiter must be an object, got null'],
    [undefined, 'TypeError: the options of createLimiter must be an object, got undefined'],
    [[], 'TypeError: the options of createLimiter must be an object, got an array of 0'],
  ])('%j: %s', (config, message) => {
    expect(String(errorOf(() => check(config)))).toBe(message);
  });
});

describe('a key that is no option', () => {
  const fieldsOf = (key: string) => {
    const entry = TABLE[key];
    return entry !== undefined && 'fields' in entry ? Object.keys(entry.fields) : [];
  };
  /** Of each level: what it is called, its keys, and a configuration with one of them there. */
  const levels: [where: string, keys: readonly string[], at: (key: string) => unknown][] = [
    ['createLimiter', KEYS, (key) => ({ [key]: 1 })],
    ...(['backoff', 'pace', 'circuitBreaker'] as const).map(
      (group): [string, readonly string[], (key: string) => unknown] => [
        group,
        fieldsOf(group),
        (key) => treeOf(`${group}.${key}`, 1),
      ],
    ),
    ['adaptive', fieldsOf('adaptive'), (key) => ({ adaptive: { strategy: 'failures', [key]: 1 } })],
    [
      'limits.rpm',
      fieldsOf('limits'),
      (key) => ({ limits: { rpm: { limit: 1, windowMs: 1, [key]: 1 } } }),
    ],
  ];

  it.each(levels)('of %s is refused', (where, keys, at) => {
    for (const key of ['clock', 'xyz', 'hasOwnProperty', 'maxLimit']) {
      const { message } = errorOf(() => check(at(key)));
      expect(message).toContain(`\`${key}\` is no option of ${where}; `);
      expect(message.endsWith(`t takes ${keys.join(', ')}`)).toBe(true);
    }
  });

  it.each(levels)('of %s that is misspelt leads to the right one', (where, keys, at) => {
    fc.assert(
      fc.property(fc.constantFrom(...keys), misspelling(), (key, misspell) => {
        const wrong = misspell(key);
        const plain = (word: string) => word.replaceAll('_', '').toLowerCase();
        // A letter more or less may make it another option, or no word at all.
        fc.pre(wrong !== '' && !keys.includes(wrong));
        fc.pre(
          keys.every((other) => other === key || editDistance(plain(other), plain(wrong)) > 1),
        );
        const error = errorOf(() => check(at(wrong)));
        expect(error).toBeInstanceOf(TypeError);
        expect(error.message).toContain(
          `\`${wrong}\` is no option of ${where}; did you mean \`${key}\`? It takes `,
        );
      }),
      { numRuns: 300 },
    );
  });

  it('may be one that somebody else reads', () => {
    check({ clock: 'anything', concurrency: 3 }, ['clock', 'probe']);
    const { message } = errorOf(() => check({ clok: 1 }, ['clock']));
    expect(message).toContain('did you mean `clock`?');
    expect(() => check({ clock: 1 })).toThrow('`clock` is no option');
    // Only at the top.
    expect(() => check({ backoff: { clock: 1 } }, ['clock'])).toThrow(
      '`clock` is no option of backoff',
    );
  });
});

/** One mistake that people make. */
function misspelling(): fc.Arbitrary<(word: string) => string> {
  const letter = fc.constantFrom(...'aeimnorstxyMS');
  return fc.tuple(fc.nat(30), letter, fc.nat(4)).map(([at, with_, kind]) => (word) => {
    const i = at % word.length;
    const [before, after] = [word.slice(0, i), word.slice(i + 1)];
    if (kind === 0) return before + after;
    if (kind === 1) return before + with_ + after;
    if (kind === 2) return before + with_ + word.slice(i);
    if (kind === 3) return word.replaceAll(/(?=[A-Z])/g, '_').toLowerCase();
    return before + after.slice(0, 1) + word.slice(i, i + 1) + after.slice(1);
  });
}
