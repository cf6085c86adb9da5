import { describe, expect, it } from 'vitest';
import { families } from '../../bench/goodput/families.ts';
import { parseScenario } from '../../bench/goodput/read-scenario.ts';
import { scenarios } from '../../bench/goodput/scenarios.ts';

const limit = { unit: 'requests', algorithm: 'sliding-window', limit: 600, windowMs: 60_000 };
const scenario = { name: 'mine', about: 'a try', provider: { limits: [limit] } };
const read = (changes: object) =>
  parseScenario(JSON.stringify({ ...scenario, ...changes }), 'mine.json');

describe('the scenarios that are run by default', () => {
  it.each([...scenarios, ...families])('$name could have come from a file', (known) => {
    const { perSecond: _, latencyMs: __, ...options } = known;
    expect(parseScenario(JSON.stringify(options), known.name)).toEqual(known);
  });

  it('have names of their own', () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });

  it('cover what the controller is tuned for', () => {
    const names = ['tb', 'q1s', 'fw', 'sw', 'swCnt', 'conc', 'halve', 'tenants', 'storm', 'eight'];
    expect(scenarios.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  });
});

describe('a scenario from a file', () => {
  it('is completed with what the others have', () => {
    expect(read({})).toMatchObject({ seconds: 600, workers: 1, perSecond: 10, latencyMs: 3400 });
  });

  it('has the backlog of a minute', () => {
    expect(read({}).backlog).toBe(600);
    expect(read({ provider: { limits: [{ ...limit, limit: 6 }] } }).backlog).toBe(100);
    expect(read({ provider: { limits: [{ ...limit, limit: 60_000 }] } }).backlog).toBe(2000);
  });

  it('takes the strictest of its limits for its capacity', () => {
    const tokens = { ...limit, unit: 'tokens', limit: 60_000 };
    const provider = { limits: [limit, tokens], concurrency: { units: 32 }, latency: 8000 };
    expect(read({ provider: { ...provider, limits: [limit] } }).perSecond).toBe(4);
    const prompts = { inputTokens: 300, outputTokens: 200, sigma: 0 };
    expect(read({ provider, prompts }).perSecond).toBe(2);
  });

  it.each([
    [{ name: 'two words' }, '`name` must be a word of letters, digits and hyphens'],
    [{ about: 3 }, '`about` must be text, got 3'],
    [{ seconds: 0 }, '`seconds` must be an integer >= 1, got 0'],
    [{ workers: 1.5 }, '`workers` must be an integer >= 1, got 1.5'],
    [{ backlog: '9' }, '`backlog` must be an integer >= 1, got "9"'],
    [{ second: 9 }, '`scenario` has no `second`; it may have `name`, `about`, `seconds`'],
    [{ provider: {} }, '`provider` must have `limits` or `concurrency`'],
    [{ provider: [] }, '`provider` must be an object, got []'],
    [{ provider: { limits: [{ ...limit, limit: 0 }] } }, '`limits[0].limit` must be an integer'],
    [{ provider: { limits: [limit], seed: 3 } }, '`provider` has no `seed`'],
    [{ others: { least: 0.5, most: 0.1, everyMs: 9 } }, '`others.most` must be a number from 0.5'],
    [
      {
        others: { least: 0, most: 0.1, everyMs: 9 },
        provider: { limits: [limit], capacity: [] },
      },
      '`others` and `provider.capacity` exclude each other',
    ],
    [
      { prompts: { inputTokens: 0, outputTokens: 1, sigma: 0 } },
      '`prompts.inputTokens` must be a number >= 1, got 0',
    ],
  ])('%j is refused', (changes, reason) => {
    expect(() => read(changes)).toThrow(`mine.json: ${reason}`);
  });

  it('has to be JSON', () => {
    expect(() => parseScenario('{', 'mine.json')).toThrow('mine.json: ');
  });
});
