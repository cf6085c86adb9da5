import { describe, expect, it } from 'vitest';
import { HELP, readOptions, UsageError } from '../../examples/batch/options.ts';

const read = (...args: string[]) => readOptions(args, 'prompts.jsonl');

describe('readOptions', () => {
  it('has a default for everything', () => {
    expect(read()).toEqual({
      prompts: 'prompts.jsonl',
      baseUrl: undefined,
      model: 'gpt-4o-mini',
      limit: Number.POSITIVE_INFINITY,
      json: false,
      hold: false,
      seed: 1,
      out: undefined,
      config: undefined,
      limits: {},
      help: false,
    });
  });

  it('reads what is given', () => {
    const numbers = ['--limit', '7', '--seed', '0'];
    const limits = ['--concurrency', '3', '--rpm', '60', '--tpm', '9000', '--adaptive', 'failures'];
    const files = ['--prompts', 'a.jsonl', '--out', 'b.jsonl', '--config', 'c.json'];
    expect(
      read(...numbers, ...limits, ...files, '--model=m', '--json', '--hold', '--help'),
    ).toMatchObject({
      prompts: 'a.jsonl',
      out: 'b.jsonl',
      model: 'm',
      limit: 7,
      seed: 0,
      config: 'c.json',
      limits: {
        concurrency: 3,
        requestsPerMinute: 60,
        tokensPerMinute: 9000,
        adaptive: 'failures',
      },
      json: true,
      hold: true,
      help: true,
    });
  });

  it.each([
    ['rate', 'rate'],
    ['latency', 'latency'],
    ['off', false],
  ])('takes %s for what adapts', (word, adaptive) => {
    expect(read('--adaptive', word).limits.adaptive).toBe(adaptive);
  });

  it.each([
    ['http://localhost:8000', 'http://localhost:8000/v1'],
    ['http://localhost:8000/', 'http://localhost:8000/v1'],
    ['http://localhost:8000/v1', 'http://localhost:8000/v1'],
    ['https://example.com/openai/v1/', 'https://example.com/openai/v1'],
    ['https://example.com/openai', 'https://example.com/openai/v1'],
  ])('takes %s for %s', (given, used) => {
    expect(read('--base-url', given).baseUrl).toBe(used);
  });

  it.each([
    [['--limit', '0'], '`--limit` must be digits, a number from 1 to 2^53 - 1, got 0'],
    [['--limit', '1.5'], '`--limit` must be digits, a number from 1 to 2^53 - 1, got 1.5'],
    [['--limit', ''], '`--limit` must be digits, a number from 1 to 2^53 - 1, got ""'],
    [
      ['--limit', '9007199254740993'],
      '`--limit` must be digits, a number from 1 to 2^53 - 1, got 9007199254740993',
    ],
    [['--concurrency=-2'], '`--concurrency` must be digits, a number from 1 to 2^53 - 1, got -2'],
    [['--limit', '-3'], '`--limit` must be digits, a number from 1 to 2^53 - 1, got -3'],
    [['--seed', 'luck'], '`--seed` must be digits, a number from 0 to 2^53 - 1, got luck'],
    [['--rpm', '0'], '`--rpm` must be digits, a number from 1 to 2^53 - 1, got 0'],
    [['--rpm', '-1'], '`--rpm` must be digits, a number from 1 to 2^53 - 1, got -1'],
    [['--tpm', '1e6'], '`--tpm` must be digits, a number from 1 to 2^53 - 1, got 1e6'],
    [['--config', ''], '`--config` must be a file name, got ""'],
    [['--adaptive'], /^Option '--adaptive <value>' argument missing$/],
    [
      ['--adaptive', 'pace'],
      /^`--adaptive` must be one of rate, latency, failures, off, got pace$/,
    ],
    [['--adaptive', 'toString'], /^`--adaptive` must be one of .*, got toString$/],
    [['--model', ''], '`--model` must be a name, got ""'],
    [['--out', ''], '`--out` must be a file name, got ""'],
    [['--out', './prompts.jsonl'], '`--out` must differ from the prompts, got ./prompts.jsonl'],
    [
      ['--base-url', 'localhost:80'],
      /^`--base-url` must be an http or https URL .* got localhost:80$/,
    ],
    [['--base-url', 'http://h/?a=1'], /^`--base-url` must be .* without a query, got http:/],
    [['--base-url', 'http://me:secret@h'], /^(?!.*secret)`--base-url` must be without user/],
    [['--tempo'], "Unknown option '--tempo'"],
    [['file.jsonl'], /^Unexpected argument 'file.jsonl'/],
    [['--seed'], /^Option '--seed <value>' argument missing$/],
    [['--json=yes'], /^Option '--json' does not take an argument$/],
  ])('refuses %j', (args, message) => {
    expect(() => read(...args)).toThrow(UsageError);
    expect(() => read(...args)).toThrow(message);
  });
});

describe('HELP', () => {
  it('fits a narrow terminal', () => {
    for (const line of HELP.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    expect(HELP).toMatch(/^ {2}--concurrency N {3}most requests/m);
    expect(HELP).toMatch(/^ {2}--rpm N {11}most requests a minute/m);
    expect(HELP).toContain('HEADGATE_REQUESTS_PER_MINUTE');
    expect(HELP).toMatch(/^ {2}--hold {12}keep/m);
  });
});
