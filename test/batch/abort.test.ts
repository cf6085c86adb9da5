import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import type { Send } from '../../src/batch/index.ts';
import { batchRig, prompts } from './rig.ts';

it('an abort ends a run that nothing else has stopped, and aborts what is in flight', async (test) => {
  const aborting = new AbortController();
  const aborted: unknown[] = [];
  // Each call ends only when it is aborted.
  const send: Send = (_request, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push(signal.reason);
        reject(signal.reason);
      });
      if (sent.length === 5) aborting.abort();
    });
  const { sent, write, run } = await batchRig(test, send);
  write('in.jsonl', prompts(50));
  const report = await run({ concurrency: 5, abortSignal: aborting.signal });
  expect(report).toMatchObject({ ok: 0, failed: 0, left: 50, stop: { reason: 'interrupted' } });
  expect(aborted).toHaveLength(5);
  expect(sent).toHaveLength(5);
});

it('an abort before the start sends nothing', async (test) => {
  const { sent, write, run } = await batchRig(test);
  write('in.jsonl', prompts(5));
  await expect(run({ abortSignal: AbortSignal.abort() })).rejects.toThrow(
    'stopped before anything was sent',
  );
  expect(sent).toEqual([]);
});

it.for(['signal', 'abortSignal'])(
  'a run that has ended listens to %s no more',
  async (name, test) => {
    const { signal } = new AbortController();
    const { write, run } = await batchRig(test);
    write('in.jsonl', prompts(5));
    expect(await run({ [name]: signal })).toMatchObject({ ok: 5 });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  },
);
