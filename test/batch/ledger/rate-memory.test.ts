import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it, type TestContext } from 'vitest';
import { RateMemory } from '../../../src/batch/ledger/rate-memory.ts';
import { batchRig, prompts } from '../rig.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE_MS = 60_000;

async function outputOf(test: TestContext) {
  return (await batchRig(test)).path('out.jsonl');
}

describe('the learned rate of a provider', () => {
  it('is kept for an hour, only for that provider', async (test) => {
    const output = await outputOf(test);
    const memory = new RateMemory(output, 'http://a/v1');
    expect(memory.read(NOW)).toEqual(new Map());
    const rates = new Map([
      ['gpt', 8.25],
      ['o3', 0.5],
    ]);
    memory.write(rates, NOW);
    expect(memory.read(NOW + 59 * MINUTE_MS)).toEqual(rates);
    expect(memory.read(NOW + 60 * MINUTE_MS)).toEqual(new Map());
    expect(memory.read(NOW - MINUTE_MS)).toEqual(new Map());
    expect(new RateMemory(output, 'http://b/v1').read(NOW)).toEqual(new Map());
    // A run that has learned nothing keeps the old rate.
    memory.write(new Map(), NOW);
    expect(memory.read(NOW)).toEqual(rates);
    memory.remove();
    expect(existsSync(`${output}.rates`)).toBe(false);
  });

  it('is ignored if its file is damaged or something else, which is left unchanged', async (test) => {
    const output = await outputOf(test);
    const memory = new RateMemory(output, '');
    const other = '{"my": "rates"}';
    for (const text of ['', '{"provider": "", "at"', other, '[]']) {
      writeFileSync(`${output}.rates`, text);
      expect(memory.read(NOW)).toEqual(new Map());
    }
    writeFileSync(`${output}.rates`, other);
    memory.write(new Map([['*', 1]]), NOW);
    memory.remove();
    expect(readFileSync(`${output}.rates`, 'utf8')).toBe(other);
    writeFileSync(
      `${output}.rates`,
      JSON.stringify({ provider: '', at: new Date(NOW), perSecond: { '*': -1, a: 'x', b: 2 } }),
    );
    expect(memory.read(NOW)).toEqual(new Map([['b', 2]]));
  });

  it('is not written through a link', async (test) => {
    const output = await outputOf(test);
    const memory = new RateMemory(output, '');
    writeFileSync(`${output}.precious`, 'mine');
    symlinkSync(`${output}.precious`, `${output}.rates.new`);
    memory.write(new Map([['*', 1]]), NOW);
    expect(readFileSync(`${output}.precious`, 'utf8')).toBe('mine');
    expect(memory.read(NOW)).toEqual(new Map([['*', 1]]));
    expect(lstatSync(`${output}.rates`).isSymbolicLink()).toBe(false);
  });

  it('is the start of the next run, and is removed when all prompts are done', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(300));
    new RateMemory(rig.path('out.jsonl'), 'here').write(new Map([['*', 400]]), Date.now());
    const options = { adaptive: undefined, provider: 'here' };
    const rates = new Set<number | undefined>();
    const batch = rig.open({
      ...options,
      send: async () => {
        rates.add(batch.progress().pace?.perSecond);
        return { statusCode: 200, body: {} };
      },
    });
    expect(await batch.run()).toMatchObject({ ok: 300, rejected: 0 });
    const [lowest = 0] = [...rates].filter((rate) => rate !== undefined).sort((a, b) => a - b);
    expect(lowest).toBeGreaterThan(350);
    expect(rig.exists('out.jsonl.rates')).toBe(false);
  });
});
