import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limiterOptionsFromJSON } from '../../src/options/sources.ts';
import { STRATEGIES } from '../../src/policies/adaptive.ts';
import { configs, errorOf, NAMED_ROWS, treeOf, valuesOf, wrongValuesOf } from './configs.ts';

describe.each(NAMED_ROWS)('$path in JSON', ({ path, option: { kind } }) => {
  it('says every value that the option takes', () => {
    fc.assert(
      fc.property(valuesOf(kind), (value) => {
        const tree = treeOf(path, value);
        expect(limiterOptionsFromJSON(JSON.stringify(tree))).toEqual(tree);
      }),
    );
  });

  it('refuses any other by its path', () => {
    const isGroup = path === 'circuitBreaker' || path === 'adaptive';
    const values = wrongValuesOf(kind).filter(
      (value) => !['bigint', 'symbol', 'function'].includes(typeof value),
    );
    for (const value of values) {
      if (isGroup && typeof value === 'object' && value !== null && !Array.isArray(value)) continue;
      const text = JSON.stringify(treeOf(path, value));
      expect(() => limiterOptionsFromJSON(text)).toThrow(`\`${path}\` must be `);
    }
  });
});

describe('options in JSON', () => {
  it('may begin with a byte order mark, as files of Windows do', () => {
    expect(limiterOptionsFromJSON('\uFEFF{"concurrency": 3}')).toEqual({ concurrency: 3 });
  });

  it('come out as they went in', () => {
    for (const strategy of STRATEGIES) {
      fc.assert(
        fc.property(configs(strategy), (config) => {
          expect(limiterOptionsFromJSON(JSON.stringify(config))).toEqual(config);
        }),
      );
    }
  });

  it.each(['', '{', 'secret: 5', "{'secret': 1}", '{"secret": NaN}', '{"secret": 1,}', 'secret'])(
    'that are none are refused as such, without a word of them: %j',
    (text) => {
      const error = errorOf(() => limiterOptionsFromJSON(text));
      expect(error).toBeInstanceOf(SyntaxError);
      expect(error.message).toMatch(
        /^the limiter's options must be a JSON text(, which is wrong at position \d+.*)?$/,
      );
      expect(inspect(error, { showHidden: true }).split(' at ')[0]).not.toContain('secret');
      expect(error.cause).toBeUndefined();
    },
  );

  it.each([
    ['null', 'the options of limiterOptionsFromJSON must be an object, got null'],
    ['[]', 'the options of limiterOptionsFromJSON must be an object, got an array of 0'],
    ['5', 'the options of limiterOptionsFromJSON must be an object, got 5'],
    ['"concurrency"', 'the options of limiterOptionsFromJSON must be an object, got "concurrency"'],
    ['{"concurrency": null}', '`concurrency` must be an integer >= 1, got null'],
    ['{"backoff": null}', 'the options of backoff must be an object, got null'],
    ['{"limits": {"rpm": null}}', 'the options of limits.rpm must be an object, got null'],
    [
      '{"adaptive": null}',
      '`adaptive` must be one of "rate", "latency", "failures", false, or an object',
    ],
    [
      '{"adaptive": true}',
      '`adaptive` must be one of "rate", "latency", "failures", false, or an object of options, got true',
    ],
    ['{"adaptive": {"initialLimit": 0}}', '`adaptive.initialLimit` must be an integer >= 1, got 0'],
    [
      '{"concurency": 5}',
      '`concurency` is no option of limiterOptionsFromJSON; did you mean `conc',
    ],
    ['{"clock": 5}', '`clock` is no option of limiterOptionsFromJSON; it takes concurrency, '],
    ['{"agingMs": 0}', '`agingMs` must be a number >= 1 or Infinity, got 0'],
    ['{"pace": {"intervalMs": 5, "maxIntervalMs": 4}}', '`pace.maxIntervalMs` must be'],
  ])('%s: %s', (text, message) => {
    expect(() => limiterOptionsFromJSON(text)).toThrow(message);
  });

  it('must be a text', () => {
    for (const value of [{ concurrency: 5 }, null, undefined, 5]) {
      expect(() => limiterOptionsFromJSON(value as unknown as string)).toThrow(
        "the limiter's options must be a JSON text, got ",
      );
    }
  });

  it('with a limit whose name is empty are refused', () => {
    const text = '{"limits": {"": {"limit": 1}}}';
    expect(() => limiterOptionsFromJSON(text)).toThrow('`limits` cannot have the name ""');
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'with a key %s are refused at every level, and change no object',
    (key) => {
      const inner = `{"${key}": {"concurrency": 5, "limit": 1, "windowMs": 1}}`;
      for (const text of [inner, `{"backoff": ${inner}}`, `{"adaptive": ${inner}}`]) {
        expect(() => limiterOptionsFromJSON(text)).toThrow(`\`${key}\` is no option of `);
      }
      const limits = () => limiterOptionsFromJSON(`{"limits": ${inner}}`);
      if (key === 'prototype') expect(limits).toThrow('no option of limits.prototype');
      else expect(limits).toThrow(`\`limits\` cannot have the name "${key}"`);
      expect({}).not.toHaveProperty('concurrency');
      expect({}).not.toHaveProperty('limit');
      expect(Object).not.toHaveProperty('limit');
    },
  );
});
