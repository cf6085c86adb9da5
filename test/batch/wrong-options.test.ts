import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { targetOf } from '../../src/batch/command/destination.ts';
import { readLimits, readModelLimits } from '../../src/batch/command/limits.ts';
import { createProgram } from '../../src/batch/command/program.ts';
import { readRunOptions } from '../../src/batch/command/run-options.ts';
import { OptionValues } from '../../src/batch/command/values.ts';
import { createHttpSender, runBatch } from '../../src/batch/index.ts';
import { readPriceFile } from '../../src/batch/money.ts';
import { loadQueuePackages } from '../../src/batch/queue/queue-packages.ts';

const folder = mkdtempSync(join(tmpdir(), 'headgate-options-'));
const [input, limits, images] = ['in.jsonl', 'limits.json', 'images.json'].map((name) =>
  join(folder, name),
) as [string, string, string];

beforeAll(() => {
  writeFileSync(input, '{"id": "p0", "prompt": "p0"}\n');
  writeFileSync(limits, '{"requestsPerMinut": 3}');
  writeFileSync(images, '{"limits": {"images": {"limit": 5, "windowMs": 1000}}}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The commands print their errors, too. */
function silenced(command: Command): Command {
  command.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  command.commands.forEach(silenced);
  return command;
}

/** What the command fails with: in this process, since to start one takes half a second. */
async function errorOf(args: readonly string[]): Promise<unknown> {
  vi.stubEnv('OPENAI_API_KEY', 'none');
  const ended: number[] = [];
  const program = silenced(createProgram((code) => ended.push(code)));
  const error = await program.parseAsync(args, { from: 'user' }).catch((thrown) => thrown);
  expect(ended).toEqual([]);
  return error;
}

describe('a wrong option of headgate run is named', () => {
  it.each<[args: string[], says: string]>([
    [['--concurency', '3'], 'Did you mean --concurrency?'],
    [['--timeout', 'soon'], '--timeout must be a time such as 90s'],
    [['--out', '-'], '--out must be a file, got "-"'],
    [['--changed', 'x'], '--changed must be one of fail, rerun, keep'],
    [['--append', '--overwrite'], 'exclude each other'],
    [['--timeout', '30d'], '--timeout must be at most 24d, got "30d"'],
    [['--concurrency='], '--concurrency must be a whole number >= 1, got ""'],
    [['--max-cost='], '--max-cost must be a number >= 0, got ""'],
    [['--timeout='], '--timeout must be a time such as 90s, 10m or 2h, got ""'],
    [['--changed='], '--changed must be one of fail, rerun, keep, got ""'],
    [['--config='], '--config must not be empty'],
    [['--template', '{{a}}'], 'in.jsonl is read as JSON lines'],
    [['--template', '{{a}}', '--dry-run'], 'in.jsonl is read as JSON lines'],
    [['--template', '{{a}}', '--text'], 'in.jsonl is read as lines of text'],
    [
      ['--header', 'X-A: a\u201cb'],
      '--header X-A has a character that cannot be sent in a header, U+201C at place 2',
    ],
    [['--header', 'Upgrade: x'], '--header Upgrade is set by the connection'],
    [['--header', 'x'], '--header must have the form "Name: value"'],
    [['--config', limits], 'did you mean `requestsPerMinute`'],
    [['--config', limits], 'is no option of the limiter; did'],
    [
      ['--limits', limits],
      '"requestsPerMinut": the options of the limiter must be an object, got 3',
    ],
    [
      ['--config', images],
      'images.json: a run counts requests, tokens and bytes, so `limits.images`',
    ],
    [['--config', 'none'], '--config none: there is no such file'],
    [['--max-cost', '3'], 'a bound of the cost needs prices'],
    [['--price-in', '3'], '--price-out is missing beside the other prices'],
    [['--price-out', '3'], '--price-in is missing beside the other prices'],
    [['--base-url', 'here'], '--base-url must be an http or https URL'],
    [['--redis', 'http://h'], '--redis must be a redis or rediss URL'],
    [['--redis', 'redis://h/a'], '--redis must end with the number of a database, got "/a"'],
    [['--redis', 'redis://h', '--timeout', '5s'], 'headgate work'],
    [['--redis', 'redis://h', '--rpm', '0'], '--rpm must be a whole number >= 1'],
  ])('%j', async (args, says) => {
    const out = join(folder, 'out.jsonl');
    const error = await errorOf(['run', input, '--out', out, '--model', 'm', ...args]);
    expect(error).toMatchObject({ message: expect.stringContaining(says) });
  });
});

it('a limit that no request is charged for is named by its variables', () => {
  const env = { HEADGATE_LIMITS_IMAGES_LIMIT: '5', HEADGATE_LIMITS_IMAGES_WINDOW_MS: '1000' };
  expect(() => readLimits(new OptionValues({}), env)).toThrow(
    'HEADGATE_LIMITS_IMAGES_*: a run counts requests, tokens and bytes, so `limits.images` would',
  );
  const settled = { ...env, HEADGATE_LIMITS_IMAGES_CHARGE: 'settle' };
  expect(readLimits(new OptionValues({}), settled).limits).toHaveProperty('images');
});

it('an empty name of an input is said to be one', async () => {
  const error = await errorOf(['run', '', '--out', join(folder, 'out.jsonl'), '--model', 'm']);
  expect(error).toMatchObject({ message: expect.stringMatching(/^an input has an empty name: /) });
});

it('a key that cannot be sent is refused, and not shown', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-\u{1f511}\u201d');
  const values = new OptionValues({});
  expect(() => targetOf(values, 'chat', process.env)).toThrow(
    /^OPENAI_API_KEY has a character that cannot be sent in a header, U\+1F511 at place 4: it was/,
  );
});

it.each([
  ['chat', 'OPENAI_BASE_URL'],
  ['anthropic', 'ANTHROPIC_BASE_URL'],
] as const)('a wrong url for %s from the environment is named by %s', (api, variable) => {
  const target = (url: string) => targetOf(new OptionValues({}), api, { [variable]: url });
  expect(() => target('here')).toThrow(`${variable} must be an http or https URL, got "here"`);
  expect(() => target('http://u:p@h')).toThrow(`${variable} must be without user and password`);
});

it('a time that is too long for a timer is refused in code, too', async () => {
  const options = { baseUrl: 'http://h', apiKey: undefined, timeoutMs: 2 ** 31 };
  const bound = /must be a number > 0 and at most 2147483647, got 2147483648/;
  expect(() => createHttpSender(options)).toThrow(bound);
  const send = createHttpSender({ ...options, timeoutMs: 1 }).send;
  const batch = { input, output: join(folder, 'o'), send, drainMs: 2 ** 31 };
  await expect(runBatch(batch)).rejects.toThrow('`drainMs` must be a number from 0 to 2147483647');
});

it.for([
  ['api.openai.com/v1', '"api.openai.com/v1"'],
  ['ftp://k:s@h/v1', '"ftp://…@h/v1"'],
  [undefined, '"undefined"'],
] as const)('a `baseUrl` of %s is refused in code', ([baseUrl, got]) => {
  const options = { baseUrl: baseUrl as string, apiKey: undefined, timeoutMs: 1 };
  expect(() => createHttpSender(options)).toThrow(
    `\`baseUrl\` must be an http or https URL, got ${got}`,
  );
});

describe('a wrong option of runBatch is named', () => {
  it.each<[options: object, says: string]>([
    [{ input: undefined }, '`input` must be a string or an array of strings, got undefined'],
    [{ inputs: input }, '`inputs` is no option of runBatch; did you mean `input`? It takes input,'],
    [{ input: 5 }, '`input` must be a string or an array of strings, got 5'],
    [{ input: [input, 5] }, '`input[1]` must be a string, got 5'],
    [{ output: undefined }, '`output` must be the name of a file, got undefined'],
    [{ send: 'x' }, '`send` must be a function, got "x"'],
    [{ format: 'json' }, '`format` must be one of "jsonl", "text", "csv", "tsv", got "json"'],
    [{ limit: 0 }, '`limit` must be an integer >= 1, got 0'],
    [{ model: 5 }, '`model` must be a string, got 5'],
    [{ retryFailed: 'x' }, '`retryFailed` must be true or false, got "x"'],
    [{ prices: { m: { in: 1 } } }, '`prices.m.out` must be a finite number >= 0, got undefined'],
    [{ maxCost: 'x' }, '`maxCost` must be a number >= 0 or Infinity, got "x"'],
    [{ cache: {} }, '`cache.get` must be a function, got undefined'],
    [{ signal: 'x' }, '`signal` must be an AbortSignal, got "x"'],
    [{ concurency: 1 }, '`concurency` is no option of runBatch; did you mean `concurrency`?'],
    [{ classify: () => undefined }, '`classify` is no option of runBatch'],
    [
      { limitsByModel: { m: { concurency: 1 } } },
      '`concurency` is no option of limitsByModel.m; did you mean `concurrency`?',
    ],
  ])('%j', async (options, says) => {
    const output = join(folder, 'unmade.jsonl');
    // The file is not there: a wrong option is found before it is looked for.
    const batch = { input: join(folder, 'none.jsonl'), output, send: () => undefined, ...options };
    const error = await runBatch(batch as never).catch((thrown) => thrown);
    expect(error.message).toContain(says);
    expect(error).toBeInstanceOf(says.endsWith(', got 0') ? RangeError : TypeError);
    expect(existsSync(output)).toBe(false);
  });
});

describe('a package that the queue needs', () => {
  const notFound = (name: string, by: string) => async (): Promise<never> => {
    const message = `Cannot find package '${name}' imported from ${by}`;
    throw Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' });
  };
  const bullmq = () => import('bullmq');
  const ioredis = () => import('ioredis');
  const [noBullmq, noIoredis] = [notFound('bullmq', '/a.js'), notFound('ioredis', '/a.js')];
  const brokenBullmq = notFound('ioredis', '/node_modules/bullmq/index.js');

  it.each([
    [{ bullmq: noBullmq, ioredis }, 'the package bullmq; install it beside headgate'],
    [{ bullmq, ioredis: noIoredis }, 'the package ioredis; install it beside headgate'],
    [{ bullmq: brokenBullmq, ioredis: noIoredis }, 'the package ioredis; install it'],
    [
      { bullmq: noBullmq, ioredis: noIoredis },
      'the packages bullmq and ioredis; install them beside headgate: npm install bullmq ioredis',
    ],
    [{ bullmq: brokenBullmq, ioredis }, "Cannot find package 'ioredis' imported from /node_mod"],
  ])('is named if it is missing: %#', async (imports, says) => {
    await expect(loadQueuePackages(imports)).rejects.toThrow(says);
  });
});

describe('a wrong option of headgate work is named', () => {
  it.each<[args: string[], says: RegExp]>([
    [[], /--redis URL is missing/],
    [
      ['--redis', 'redis://127.0.0.1:1', '--base-url', 'http://h'],
      /--redis 127.0.0.1:1: .*ECONNREFUSED/,
    ],
    [
      ['--redis', 'redis://h', '--queue', 'a:b', '--base-url', 'http://h'],
      /--queue must be without colons/,
    ],
  ])('%j', async (args, says) => {
    expect(await errorOf(['work', ...args])).toMatchObject({
      message: expect.stringMatching(says),
    });
  });
});

it('files of options may begin with a byte order mark, as those of Windows do', () => {
  const mark = '\uFEFF';
  const file = join(folder, 'marked.json');
  writeFileSync(file, `${mark}{"concurrency": 3}`);
  expect(readLimits(new OptionValues({ config: file }), {})).toMatchObject({ concurrency: 3 });
  writeFileSync(file, `${mark}{"m": {"concurrency": 3}}`);
  expect(readModelLimits(new OptionValues({ limits: file }))).toEqual({ m: { concurrency: 3 } });
  writeFileSync(file, `${mark}{"m": {"in": 1, "out": 2}}`);
  expect(readPriceFile(file)).toEqual({ m: { in: 1, out: 2 } });
});

it('embeddings have no output, and need no price for it', () => {
  const given = { out: 'o', model: 'm', api: 'embeddings', priceIn: '0.02' };
  const { batch } = readRunOptions(['in.jsonl'], new OptionValues(given), {});
  expect(batch.prices).toEqual({ '*': { in: 0.02, cached: undefined, out: 0 } });
});
