import { expect, it } from 'vitest';
import { openCache } from '../../src/batch/index.ts';
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
