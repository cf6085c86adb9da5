import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cacheIn } from '../../src/batch/cache/answer-cache.ts';
import { type AnswerCache, type BatchResponse, openCache } from '../../src/batch/index.ts';
import { batchRig, prompts } from './rig.ts';

it('answers from the cache what any run has answered, for any id', async (test) => {
  const rig = await batchRig(test);
  const cache = await openCache(rig.path('cache'), 'http://one');
  test.onTestFinished(() => cache.close());
  rig.write('in.jsonl', prompts(20));
  expect(await rig.run({ cache })).toMatchObject({ ok: 20, cached: 0 });
  rig.sent.length = 0;
  rig.write(
    'in.jsonl',
    prompts(22).map(({ prompt }) => ({ id: `other-${prompt}`, prompt })),
  );
  const prices = { '*': { in: 1, out: 2 } };
  const report = await rig.run({ cache, prices, existing: 'overwrite' });
  expect(report).toMatchObject({ ok: 22, cached: 20, inputTokens: 200 });
  expect(rig.sent).toEqual(['p20', 'p21']);
  const [first] = rig.results();
  expect(first).toMatchObject({
    custom_id: 'other-p0',
    response: { body: { choices: [{ message: { content: 'P0' } }] } },
    headgate: { attempts: 0, cost: 0 },
  });
  // The cache does not answer for another model or another server.
  expect(await rig.run({ cache, model: 'n', existing: 'overwrite' })).toMatchObject({ cached: 0 });
  const elsewhere = await openCache(rig.path('cache'), 'http://two');
  test.onTestFinished(() => elsewhere.close());
  expect(await rig.run({ cache: elsewhere, existing: 'overwrite' })).toMatchObject({ cached: 0 });
});

it('does not keep failures', async (test) => {
  const rig = await batchRig(test, async () => ({ statusCode: 400, body: {} }));
  const cache = await openCache(rig.path('cache'), '');
  test.onTestFinished(() => cache.close());
  rig.write('in.jsonl', prompts(3));
  for (let run = 0; run < 2; run += 1) {
    expect(await rig.run({ cache, existing: 'overwrite' })).toMatchObject({ failed: 3, cached: 0 });
  }
});

describe('a cache of the program', () => {
  const empty: AnswerCache = { get: () => undefined, put: () => {}, close: async () => {} };

  const puts: Record<string, AnswerCache['put']> = {
    throws: () => {
      throw new Error('the disk is full');
    },
    rejects: async () => {
      throw new Error('the disk is full');
    },
  };

  it.for(Object.entries(puts))(
    'stops the run if `put` %s, and keeps the answers',
    async ([, put], test) => {
      const rig = await batchRig(test);
      rig.write('in.jsonl', prompts(100));
      const report = await rig.run({ cache: { ...empty, put }, concurrency: 1 });
      const message = 'cannot write to the cache: the disk is full';
      expect(report.stop).toEqual({ reason: 'output', message });
      expect(rig.results()).toHaveLength(rig.sent.length);
      expect(rig.sent.length).toBeLessThan(100);
      // An answer that was paid for is not requested again.
      expect(await rig.run({ cache: empty })).toMatchObject({ left: 0, doneBefore: report.ok });
      expect(rig.sent).toHaveLength(100);
    },
  );

  it('stops the run if `get` returns no answer', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(2));
    for (const [value, got] of [
      [Promise.resolve(), 'a promise'],
      [null, 'null'],
      [{ answer: 1 }, 'an object with answer'],
    ]) {
      const get = () => value as unknown as BatchResponse;
      const { stop } = await rig.run({ cache: { ...empty, get } });
      const must = '`cache.get` must return { statusCode, body } or undefined';
      expect(stop).toEqual({ reason: 'output', message: `${must}, got ${got}` });
    }
    expect(rig.sent).toEqual([]);
  });

  it.for([
    [{ statusCode: 500, body: { error: {} } }, 'status 500 and an object with error'],
    [{ statusCode: 200, body: undefined }, 'status 200 and undefined'],
  ])(
    'stops the run if `get` returns an answer that is not good: %j',
    async ([value, got], test) => {
      const rig = await batchRig(test);
      rig.write('in.jsonl', prompts(2));
      const report = await rig.run({ cache: { ...empty, get: () => value as BatchResponse } });
      const message = `\`cache.get\` must return a good answer, got one with ${got}`;
      expect(report).toMatchObject({ ok: 0, left: 2, stop: { reason: 'output', message } });
    },
  );

  it('stops the run if `get` throws, and says that the cache has failed', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(10));
    let reads = 0;
    const get = () => {
      reads += 1;
      if (reads === 4) throw new Error('the database is closed');
      return undefined;
    };
    const report = await rig.run({ cache: { ...empty, get } });
    const message = 'cannot read from the cache: the database is closed';
    expect(report).toMatchObject({ ok: 3, left: 7, stop: { reason: 'output', message } });
  });
});

describe('a cache on a full disk', () => {
  it('tells the cause, and closes at once', async (test) => {
    // As lmdb does: a batch of writes ends in a later turn, and then has a promise of its own.
    const commitError = Promise.reject(new Error('Input/output error'));
    commitError.catch(() => {});
    const fail = async () => {
      await setImmediate();
      await setImmediate();
      throw Object.assign(new Error('Commit failed'), { commitError });
    };
    let batch: Promise<never> | undefined;
    const store = {
      get: () => undefined,
      put: async () => {
        await setImmediate();
        batch ??= fail();
        await fail();
      },
      get committed() {
        return batch;
      },
      close: () => new Promise(() => {}),
    };
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(100));
    const cache = cacheIn(store as unknown as Parameters<typeof cacheIn>[0], '');
    const { stop } = await rig.run({ cache, concurrency: 1 });
    expect(stop?.message).toBe('cannot write to the cache: Input/output error');
    await cache.close();
  });
});
