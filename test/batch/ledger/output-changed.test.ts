import { appendFileSync, copyFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { ResultFile } from '../../../src/batch/ledger/result-file.ts';
import { answer, type BatchRig, batchRig, prompts } from '../rig.ts';

/** So many that a busy machine finds the change before the last one is sent. */
const LINES = 200;

/** A run whose output is changed while two answers are in flight. */
async function changed(rig: BatchRig, change: () => void) {
  rig.write('in.jsonl', prompts(LINES));
  const running = rig.run({ concurrency: 2 });
  while (rig.sent.length < 6) await new Promise((resolve) => setTimeout(resolve, 5));
  // What was answered before is written by now, and what is in flight is not answered yet.
  await new Promise((resolve) => setTimeout(resolve, 30));
  change();
  return running;
}

const slow = async (...args: Parameters<typeof answer>) => {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return answer(...args);
};

it.for<[name: string, says: string, change: (path: string) => void]>([
  ['removed', 'was removed or renamed', (path) => rmSync(path)],
  ['renamed', 'was removed or renamed', (path) => renameSync(path, `${path}.old`)],
  [
    'replaced',
    'was replaced',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
  ['emptied', 'was made shorter', (path) => truncateSync(path)],
  ['written to', 'was written to', (path) => appendFileSync(path, 'other\n')],
])('an output that is %s stops the run', async ([_name, says, change], test) => {
  const rig = await batchRig(test, slow);
  const report = await changed(rig, () => change(rig.path('out.jsonl')));
  expect(report.stop).toMatchObject({ reason: 'output' });
  expect(report.stop?.message).toContain(`out.jsonl ${says} while the run went on`);
  expect(rig.sent.length).toBeLessThan(LINES);
  expect(report.left).toBeGreaterThan(0);
});

it('an output that is emptied during a write gets no hole, and the next write fails', async (test) => {
  const rig = await batchRig(test);
  const file = await ResultFile.open(rig.path('out.jsonl'), 0, false);
  const errors: string[] = [];
  file.onError = ({ message }) => errors.push(message);
  file.append('a line that is long');
  await file.sync();
  const handle = await open(rig.path('other'), 'w');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { write } = prototype;
  const spy = vi.spyOn(prototype, 'write').mockImplementationOnce(function (
    this: unknown,
    ...args: unknown[]
  ) {
    truncateSync(rig.path('out.jsonl'));
    return write.apply(this, args);
  });
  test.onTestFinished(() => spy.mockRestore());
  file.append('short');
  await file.flush();
  expect(rig.read()).toBe('short\n');
  await file.tick();
  expect(errors).toEqual([expect.stringContaining('was made shorter')]);
  await file.close();
});

it('results of requests in flight still go into a renamed file', async (test) => {
  const rig = await batchRig(test, slow);
  const report = await changed(rig, () => renameSync(rig.path('out.jsonl'), rig.path('old.jsonl')));
  expect(rig.results('old.jsonl')).toHaveLength(report.ok);
  expect(report.ok).toBe(rig.sent.length);
});

it('lines of another program are neither overwritten nor continued', async (test) => {
  const rig = await batchRig(test, slow);
  const report = await changed(rig, () => appendFileSync(rig.path('out.jsonl'), 'other\n'));
  expect(rig.read().endsWith('other\n')).toBe(true);
  expect(rig.read().split('\n')).toHaveLength(report.ok + 2);
});

it('an output that is removed after the last result is noticed before the report', async (test) => {
  const rig = await batchRig(test, async (request, context) => {
    if (request.id === 'p1') rmSync(rig.path('out.jsonl'));
    return answer(request, context);
  });
  rig.write('in.jsonl', prompts(2));
  expect((await rig.run({ concurrency: 1 })).stop).toMatchObject({ reason: 'output' });
});
