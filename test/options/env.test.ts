import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limiterOptionsFromEnv, VARIABLES, variableOf } from '../../src/options/env.ts';
import { STRATEGIES } from '../../src/policies/adaptive.ts';
import { boundOf } from '../../src/policies/option.ts';
import {
  allValuesOf,
  configs,
  errorOf,
  leavesOf,
  NAMED_ROWS,
  treeOf,
  wrongTextsOf,
} from './configs.ts';

const read = (env: Readonly<Record<string, string | undefined>>) =>
  limiterOptionsFromEnv('HEADGATE', env);

it.each([null, 5, 'HEADGATE_CONCURRENCY=4', []])('%j is no environment', (env) => {
  expect(() => read(env as never)).toThrow('`env` must be an object of variables, got ');
});

describe.each(NAMED_ROWS)('the variable of $path', ({ path, option: { kind } }) => {
  const variable = `HEADGATE_${variableOf(path)}`;

  it('says every value that the option takes', () => {
    fc.assert(
      fc.property(allValuesOf(kind), (value) => {
        expect(read({ [variable]: String(value) })).toEqual(treeOf(path, value));
      }),
    );
  });

  it('refuses any other text by its name, the bound and the text', () => {
    for (const text of wrongTextsOf(kind)) {
      const error = errorOf(() => read({ [variable]: text }));
      expect(error.message).toBe(
        `\`${variable}\` must be ${boundOf(kind)}, got ${JSON.stringify(text)}`,
      );
      const isNumber = 'least' in kind && /^\d+(\.\d+)?$/.test(text) && text !== '01';
      expect(error).toBeInstanceOf(isNumber ? RangeError : TypeError);
    }
  });

  it('counts as not set when it is empty', () => {
    expect(read({ [variable]: '' })).toEqual({});
    expect(read({ [variable]: undefined })).toEqual({});
  });
});

describe('variables', () => {
  it('are called by the path of the option', () => {
    expect(new Set(VARIABLES).size).toBe(VARIABLES.length);
    for (const name of ['CONCURRENCY', 'BACKOFF_BACKOFF_MS', 'LIMITS_<NAME>_WINDOW_MS']) {
      expect(VARIABLES).toContain(name);
    }
    const env = {
      HEADGATE_CONCURRENCY: '8',
      HEADGATE_BACKOFF_BACKOFF_MS: '100',
      HEADGATE_BACKOFF_REOPEN: 'all',
      HEADGATE_LIMITS_REQUESTS_LIMIT: '60',
      HEADGATE_LIMITS_REQUESTS_WINDOW_MS: '60000',
      HEADGATE_LIMITS_INPUT_TOKENS_LIMIT: '0012'.slice(2),
      HEADGATE_LIMITS_WINDOW_MS_LIMIT: '1.5',
      HEADGATE_LIMITS_LIMIT_BURST: '2.50',
      HEADGATE_CIRCUIT_BREAKER_OPEN_MS: '0',
      HEADGATE_REFUND_REJECTED: 'false',
      HEADGATEX: 'another program',
      headgate_concurrency: 'another program',
      PATH: '/bin',
    };
    expect(read(env)).toEqual({
      concurrency: 8,
      backoff: { backoffMs: 100, reopen: 'all' },
      limits: {
        requests: { limit: 60, windowMs: 60_000 },
        input_tokens: { limit: 12 },
        window_ms: { limit: 1.5 },
        limit: { burst: 2.5 },
      },
      circuitBreaker: { openMs: 0 },
      refundRejected: false,
    });
  });

  it('say any configuration', () => {
    for (const strategy of STRATEGIES) {
      fc.assert(
        fc.property(configs(strategy), (config) => {
          const env = [...leavesOf(config)].map(([path, value]) => [
            `HEADGATE_${variableOf(path)}`,
            String(value),
          ]);
          expect(read(Object.fromEntries(env))).toEqual(config);
        }),
      );
    }
  });

  it('turn on what they give options of, alone or not', () => {
    expect(read({ HEADGATE_CIRCUIT_BREAKER: 'true' })).toEqual({ circuitBreaker: true });
    expect(read({ HEADGATE_ADAPTIVE: 'failures' })).toEqual({ adaptive: 'failures' });
    const breaker = { HEADGATE_CIRCUIT_BREAKER_OPEN_MS: '5', HEADGATE_CIRCUIT_BREAKER: 'true' };
    expect(read(breaker)).toEqual({ circuitBreaker: { openMs: 5 } });
    const off = { ...breaker, HEADGATE_CIRCUIT_BREAKER: 'false' };
    expect(read(off)).toEqual({ circuitBreaker: false });
    const failures = { HEADGATE_ADAPTIVE: 'failures', HEADGATE_ADAPTIVE_COOLING_MS: '5' };
    expect(read(failures)).toEqual({ adaptive: { strategy: 'failures', coolingMs: 5 } });
    expect(read({ ...failures, HEADGATE_ADAPTIVE_STRATEGY: 'failures' })).toEqual(read(failures));
  });

  it('turn the rate on, with options or without, or off', () => {
    expect(read({ HEADGATE_ADAPTIVE: 'false' })).toEqual({ adaptive: false });
    expect(read({ HEADGATE_ADAPTIVE: 'rate' })).toEqual({ adaptive: 'rate' });
    const start = { HEADGATE_ADAPTIVE_INITIAL_LIMIT: '5' };
    const rate = { adaptive: { strategy: 'rate', initialLimit: 5 } };
    expect(read({ ...start, HEADGATE_ADAPTIVE: 'rate' })).toEqual(rate);
    // Off outweighs what it would be if it were on.
    expect(read({ ...start, HEADGATE_ADAPTIVE: 'false' })).toEqual({ adaptive: false });
    const wrong = { HEADGATE_ADAPTIVE_INITIAL_LIMIT: '0', HEADGATE_ADAPTIVE: 'false' };
    expect(() => read(wrong)).toThrow('`HEADGATE_ADAPTIVE_INITIAL_LIMIT` must be');
  });

  it.each(['true', 'auto', 'cooling', 'gradient'])('refuse %s for what adapts', (text) => {
    expect(() => read({ HEADGATE_ADAPTIVE: text })).toThrow(
      `\`HEADGATE_ADAPTIVE\` must be one of "rate", "latency", "failures", false, got "${text}"`,
    );
  });

  it.each<[Readonly<Record<string, string>>, string]>([
    [
      { ADAPTIVE: 'failures', ADAPTIVE_STRATEGY: 'latency' },
      '`HEADGATE_ADAPTIVE` and `HEADGATE_ADAPTIVE_STRATEGY` must be the same, got "failures" and "latency"',
    ],
    [
      { ADAPTIVE: 'failures', ADAPTIVE_TOLERANCE: '2' },
      '`HEADGATE_ADAPTIVE_TOLERANCE` belongs to the strategy "latency", not "failures"; got 2',
    ],
    [
      { REQUESTS_PER_MINUTE: '5', LIMITS_REQUESTS_LIMIT: '5' },
      '`HEADGATE_REQUESTS_PER_MINUTE` and `HEADGATE_LIMITS_REQUESTS` exclude each other',
    ],
    [
      { PACE_INTERVAL_MS: '5', PACE_MAX_INTERVAL_MS: '4' },
      '`HEADGATE_PACE_MAX_INTERVAL_MS` must be a finite number >= 5, which is `HEADGATE_PACE_INTERVAL_MS`, got 4',
    ],
    [
      { LIMITS_A_B_ALGORITHM: 'fixed-window', LIMITS_A_B_BURST: '4' },
      '`HEADGATE_LIMITS_A_B_BURST` belongs to a token-bucket, not a fixed-window; got 4',
    ],
    [
      { CONCURRENCY: '4', ADAPTIVE: 'failures', ADAPTIVE_INITIAL_LIMIT: '5' },
      '`HEADGATE_ADAPTIVE_INITIAL_LIMIT` must be a number from 1 to 4, which is `HEADGATE_CONCURRENCY`, got 5',
    ],
  ])('that contradict each other are refused: %j', (values, message) => {
    const env = Object.entries(values).map(([name, text]) => [`HEADGATE_${name}`, text]);
    expect(() => read(Object.fromEntries(env))).toThrow(message);
  });
});

describe('a variable that is no option', () => {
  it.each([
    ['CONCURENCY', 'CONCURRENCY'],
    ['concurrency', 'CONCURRENCY'],
    ['MAXBYTES', 'MAX_BYTES'],
    ['BACKOFF_MS', 'BACKOFF_BACKOFF_MS'],
    ['OPEN_MS', 'CIRCUIT_BREAKER_OPEN_MS'],
    ['CIRCUITBREAKER', 'CIRCUIT_BREAKER'],
    ['LIMITS_REQUESTS_WINDOWMS', 'LIMITS_REQUESTS_WINDOW_MS'],
    ['LIMITS_INPUT_TOKENS_WINDOW_M', 'LIMITS_INPUT_TOKENS_WINDOW_MS'],
    ['LIMITS_INPUT_TOKENS_LIMT', 'LIMITS_INPUT_TOKENS_LIMIT'],
    ['LIMIT_INPUT_TOKENS_LIMIT', 'LIMITS_INPUT_TOKENS_LIMIT'],
    ['LIMITS_requests_LIMIT', 'LIMITS_REQUESTS_LIMIT'],
  ])('%s is refused, and %s meant', (wrong, meant) => {
    const error = errorOf(() => read({ [`HEADGATE_${wrong}`]: '1' }));
    expect(String(error)).toBe(
      `TypeError: \`HEADGATE_${wrong}\` is no option; did you mean \`HEADGATE_${meant}\`?`,
    );
  });

  it.each([
    '',
    'API_KEY',
    'CONSTRUCTOR',
    '__PROTO__',
    'LIMITS_LIMIT',
    'LIMITS__LIMIT',
    'LIMITS___PROTO___LIMIT',
    'LIMITS_A__B_LIMIT',
    'LIMITS_<NAME>_LIMIT',
    'BACKOFF',
  ])('%j is refused, without its text, and all that there are named', (wrong) => {
    const { message } = errorOf(() => read({ [`HEADGATE_${wrong}`]: 's3cret' }));
    expect(message).toMatch(new RegExp(`^\`HEADGATE_${wrong}\` is no option; `));
    expect(message).not.toContain('s3cret');
    expect(message).not.toContain('did you mean');
  });

  it('far from all brings all', () => {
    const { message } = errorOf(() => read({ HEADGATE_API_KEY: 's3cret' }));
    expect(message).toContain('; there are HEADGATE_CONCURRENCY, HEADGATE_THROTTLED_CONCURRENCY, ');
    for (const name of VARIABLES) expect(message).toContain(`HEADGATE_${name}`);
  });

  it('that is empty is not there', () => {
    expect(read({ HEADGATE_CONCURENCY: '' })).toEqual({});
  });

  it('cannot reach what every object has', () => {
    expect(() => read({ HEADGATE_LIMITS_CONSTRUCTOR_LIMIT: '5' })).toThrow(
      '`limits` cannot have the name "constructor"',
    );
    expect(Object).not.toHaveProperty('limit');
    expect({}).not.toHaveProperty('limit');
  });
});

describe('the prefix', () => {
  it('may be another', () => {
    const env = { OPENAI_CONCURRENCY: '3', HEADGATE_CONCURRENCY: '4', HEADGATE_X: '1' };
    expect(limiterOptionsFromEnv('OPENAI', env)).toEqual({ concurrency: 3 });
    expect(limiterOptionsFromEnv('HEAD_GATE2', { HEAD_GATE2_TOTAL: '3' })).toEqual({ total: 3 });
    expect(() => limiterOptionsFromEnv('OPENAI', { OPENAI_TOTL: '1' })).toThrow(
      '`OPENAI_TOTL` is no option; did you mean `OPENAI_TOTAL`?',
    );
  });

  it.each(['', '_', 'HEADGATE_', '1A', 'A-B', 'A B', 7, null])('cannot be %j', (prefix) => {
    const { message } = errorOf(() => limiterOptionsFromEnv(prefix as string, {}));
    expect(message).toMatch(/^`prefix` must be letters, digits and `_`, .*, got /);
    expect(message.endsWith(`got ${JSON.stringify(prefix)}`)).toBe(true);
  });

  it('and the environment have defaults', () => {
    const before = process.env.HEADGATE_MAX_QUEUE;
    process.env.HEADGATE_MAX_QUEUE = '17';
    try {
      expect(limiterOptionsFromEnv()).toMatchObject({ maxQueue: 17 });
    } finally {
      if (before === undefined) delete process.env.HEADGATE_MAX_QUEUE;
      else process.env.HEADGATE_MAX_QUEUE = before;
    }
  });
});
