import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLimiter, type LimiterOptions } from 'headgate';
import { afterAll, describe, expect, it } from 'vitest';
import { inItsTime } from '../../examples/batch/demo.ts';
import { readLimits } from '../../examples/batch/limits.ts';
import { UsageError } from '../../examples/batch/options.ts';
import { limitsOf } from '../../examples/batch/report-limits.ts';

const folder = mkdtempSync(join(tmpdir(), 'headgate-limits-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const file = join(folder, 'limits.json');
  writeFileSync(file, text);
  return file;
}

describe('readLimits', () => {
  const read = (limits = {}, config?: string, env = {}) => readLimits({ limits, config }, env);

  it('has a default for what nobody says', () => {
    expect(read()).toEqual({ concurrency: 64 });
  });

  it.each([
    ['a flag, a file and the environment', { concurrency: 2 }, '{"concurrency":3}', '4', 2],
    ['a file and the environment', {}, '{"concurrency":3}', '4', 3],
    ['the environment', {}, '{}', '4', 4],
    ['none', {}, '{}', '', 64],
  ])('of %s it takes the first', (_, flags, json, text, concurrency) => {
    const env = { HEADGATE_CONCURRENCY: text };
    expect(read(flags, fileOf(json), env)).toEqual({ concurrency });
  });

  it('takes each option from where it is said', () => {
    const file = fileOf('{"tokensPerMinute":9000,"pace":{"intervalMs":5}}');
    const env = { HEADGATE_REQUESTS_PER_MINUTE: '60', HEADGATE_PACE_JITTER: '0', HOME: '/' };
    expect(read({ adaptive: 'failures', concurrency: undefined }, file, env)).toEqual({
      concurrency: 64,
      adaptive: 'failures',
      requestsPerMinute: 60,
      tokensPerMinute: 9000,
      pace: { intervalMs: 5, jitter: 0 },
    });
  });

  it('adapts what a flag, the file or the environment says', () => {
    expect(read({}, fileOf('{"adaptive":"latency"}')).adaptive).toBe('latency');
    expect(read({}, undefined, { HEADGATE_ADAPTIVE: 'false' }).adaptive).toBe(false);
    expect(read({ adaptive: false }, fileOf('{"adaptive":"failures"}')).adaptive).toBe(false);
  });

  it('lets a flag replace the limit that it is short for', () => {
    const file = fileOf('{"limits":{"requests":{"limit":5,"windowMs":1000}}}');
    const { requestsPerMinute, limits } = read({ requestsPerMinute: 60 }, file);
    expect({ requestsPerMinute, limits: limits ?? {} }).toEqual({
      requestsPerMinute: 60,
      limits: {},
    });
  });

  it('waits behind an open circuit, as streams do, unless somebody says otherwise', () => {
    const env = { HEADGATE_CIRCUIT_BREAKER: 'true' };
    expect(read({}, undefined, env).circuitBreaker).toBe(true);
    const file = fileOf('{"circuitBreaker":{"onOpen":"fail"}}');
    expect(read({}, file, env).circuitBreaker).toEqual({ onOpen: 'fail' });
  });

  it.each([
    ['{"tempo":3}', {}, /^\S+limits\.json: .*`tempo`/],
    ['{"concurrency":0}', {}, /^\S+limits\.json: `concurrency` must be .*, got 0$/],
    ['{', {}, /^\S+limits\.json: .*JSON/],
    ['{}', { HEADGATE_CONCURRENCY: 'many' }, /^`HEADGATE_CONCURRENCY` must be .*, got "?many/],
    ['{}', { HEADGATE_TEMPO: '3' }, /^`?HEADGATE_TEMPO/],
    ['{"limits":{"requests":{"limit":3}}}', {}, /^`limits\.requests\.windowMs` must be /],
    ['{"limits":{"requests":{"limit":3}}}', { HEADGATE_REQUESTS_PER_MINUTE: '3' }, /requests/],
  ])('refuses %s with %j in one line', (json, env, message) => {
    const reading = () => read({}, fileOf(json), env);
    expect(reading).toThrow(UsageError);
    expect(reading).toThrow(message);
    expect(reading).toThrow(/^[^\n]+$/);
  });

  it('refuses a file that is not there, or no file', () => {
    expect(() => read({}, 'nowhere.json')).toThrow('nowhere.json: there is no such file');
    expect(() => read({}, folder)).toThrow(`${folder}: this is a directory, not a file`);
  });
});

describe('inItsTime', () => {
  it('has a minute last three seconds', () => {
    const chosen = { requestsPerMinute: 24, tokensPerMinute: 9000, adaptive: 'failures' } as const;
    expect(inItsTime(chosen)).toEqual({
      maxBytes: 65_536,
      limits: {
        requests: { limit: 24, windowMs: 3_000 },
        tokens: { limit: 9000, windowMs: 3_000, charge: 'settle' },
      },
      adaptive: { strategy: 'failures', failureWindowMs: 3_000, coolingMs: 3_000 },
    });
  });

  it('leaves what is said in milliseconds as it is', () => {
    const chosen = {
      maxBytes: 9,
      limits: { requests: { limit: 1, windowMs: 60_000 } },
      adaptive: { strategy: 'failures', coolingMs: 5_000 },
    } as const;
    expect(inItsTime(chosen)).toEqual({
      ...chosen,
      adaptive: { strategy: 'failures', failureWindowMs: 3_000, coolingMs: 5_000 },
    });
    expect(inItsTime({ adaptive: 'latency' })).toEqual({ maxBytes: 65_536, adaptive: 'latency' });
  });
});

describe('limitsOf', () => {
  it('tells every limit that is on, and its use', () => {
    const options = {
      concurrency: 8,
      requestsPerMinute: 60,
      limits: { tokens: { limit: 100, windowMs: 5_000 } },
      pace: { intervalMs: 50 },
      circuitBreaker: true,
      adaptive: { strategy: 'failures', initialLimit: 4 },
    } as const;
    const limiter = createLimiter(options);
    limiter.recordTokens(30);
    expect(limitsOf(options, limiter.snapshot())).toEqual({
      concurrency: 8,
      concurrencyAtEnd: 4,
      maxBytes: 5 * 1024 ** 2,
      rate: null,
      rateLimit: {
        requests: { limit: 60, windowMs: 60_000, used: 0 },
        tokens: { limit: 100, windowMs: 5_000, used: 30 },
      },
      intervalMs: 50,
      circuitBreaker: 'closed',
    });
  });

  it('tells the rate that adapts, and where it is from', () => {
    const rateOf = (options: LimiterOptions) =>
      limitsOf(options, createLimiter(options).snapshot()).rate;
    const start = { source: 'start', ceilingPerSecond: null, isOut: false };
    expect(rateOf({})).toEqual({ ...start, perSecond: null });
    expect(rateOf({ adaptive: 'latency' })).toBeNull();
  });
});
