import { expect, it } from 'vitest';
import { answer, batchRig } from './rig.ts';

it('paces each model by its own limits', async (test) => {
  const inFlight = new Map<string, number>();
  const most = new Map<string, number>();
  const rig = await batchRig(test, async (request, context) => {
    const model = String(request.body.model);
    const now = (inFlight.get(model) ?? 0) + 1;
    inFlight.set(model, now);
    most.set(model, Math.max(now, most.get(model) ?? 0));
    await new Promise((resolve) => setTimeout(resolve, 5));
    inFlight.set(model, now - 1);
    return answer(request, context);
  });
  rig.write(
    'in.jsonl',
    Array.from({ length: 90 }, (_, index) => ({
      id: `p${index}`,
      prompt: `p${index}`,
      model: ['large', 'small', 'other'][index % 3],
    })),
  );
  const limitsByModel = { large: { concurrency: 2 }, '*': { concurrency: 5 } };
  const report = await rig.run({ limitsByModel, prices: { '*': { in: 1, out: 1 } } });
  expect(report).toMatchObject({ ok: 90, failed: 0 });
  expect(Object.fromEntries(most)).toEqual({ large: 2, small: 5, other: 5 });
});

it('refuses a wrong limit before anything is read', async (test) => {
  const rig = await batchRig(test);
  const limitsByModel = { large: { concurrency: 0 } };
  expect(() => rig.open({ limitsByModel, input: [] })).toThrow('no input');
  rig.write('in.jsonl', [{ prompt: 'a' }]);
  expect(() => rig.open({ limitsByModel })).toThrow('`concurrency` must be an integer >= 1, got 0');
});

it('sends the lines of a second model while 1,500 of the first, which come before, wait', async (test) => {
  let begin = () => {};
  const isSecondSent = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const rig = await batchRig(test, async (request, context) => {
    if (request.body.model === 'second') begin();
    await isSecondSent;
    return answer(request, context);
  });
  const line = (_: unknown, index: number) => ({
    prompt: `p${index}`,
    model: index < 1_500 ? 'first' : 'second',
  });
  rig.write('in.jsonl', Array.from({ length: 1_510 }, line));
  const limitsByModel = { '*': { concurrency: 20 } };
  expect(await rig.run({ limitsByModel })).toMatchObject({ ok: 1_510, failed: 0 });
});

it('refuses no line where the limits of its model bound the queue', async (test) => {
  const rig = await batchRig(test, async (request, context) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return answer(request, context);
  });
  const line = (_: unknown, index: number) => ({ prompt: `p${index}`, model: 'first' });
  rig.write('in.jsonl', Array.from({ length: 1_500 }, line));
  const limitsByModel = { '*': { concurrency: 100, adaptive: false, maxQueue: 1_000 } } as const;
  expect(await rig.run({ limitsByModel })).toMatchObject({ ok: 1_500, failed: 0 });
});
