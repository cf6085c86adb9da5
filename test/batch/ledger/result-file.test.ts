import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, it, type TestContext, vi } from 'vitest';
import { ResultFile } from '../../../src/batch/ledger/result-file.ts';
import { batchRig } from '../rig.ts';

it('writes lines whole and in order, however fast they come', async (test) => {
  const rig = await batchRig(test);
  writeFileSync(rig.path('out'), 'first\ntorn');
  const file = await ResultFile.open(rig.path('out'), 6, false);
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index} ${'x'.repeat(index)}`);
  for (const [index, line] of lines.entries()) {
    file.append(line);
    if (index % 100 === 0) await file.flush();
  }
  await file.sync();
  await file.close();
  expect(readFileSync(rig.path('out'), 'utf8')).toBe(`first\n${lines.join('\n')}\n`);
});

it('that cannot be written ends a run with exit code 2 before anything is sent', async (test) => {
  const rig = await batchRig(test);
  const opened = ResultFile.open(rig.folder, 0, false);
  await expect(opened).rejects.toMatchObject({ exitCode: 2, message: /cannot write/ });
});

/** A file of results with its errors, and the prototype of all file handles. */
async function watchedFile(test: TestContext) {
  const rig = await batchRig(test);
  const file = await ResultFile.open(rig.path('out'), 0, false);
  const errors: string[] = [];
  file.onError = ({ message }) => errors.push(message);
  const handle = await open(rig.path('other'), 'w');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  return { rig, file, errors, prototype };
}

it('reports a failed write, and later writes the whole line', async (test) => {
  const { rig, file, errors, prototype } = await watchedFile(test);
  const { write } = prototype;
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  // Half of the line gets to the disk, and then it is full.
  const spy = vi.spyOn(prototype, 'write').mockImplementationOnce(async function (
    this: unknown,
    ...args: unknown[]
  ) {
    await write.call(this, args[0], 0, 5, 0);
    throw full;
  });
  test.onTestFinished(() => spy.mockRestore());
  file.append('a whole line');
  await file.flush();
  file.append('and another');
  expect(errors).toEqual([`cannot write ${rig.path('out')}: the disk is full`]);
  expect([file.unwritten, file.appended, file.saved]).toEqual([2, 2, 0]);
  await file.sync();
  expect([file.unwritten, file.appended, file.saved]).toEqual([0, 2, 2]);
  await file.close();
  expect(readFileSync(rig.path('out'), 'utf8')).toBe('a whole line\nand another\n');
});

it('counts a line as saved only when it is on disk', async (test) => {
  const { file, prototype } = await watchedFile(test);
  file.append('first');
  await file.flush();
  expect([file.appended, file.saved]).toEqual([1, 0]);
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const spy = vi.spyOn(prototype, 'write').mockRejectedValue(full);
  test.onTestFinished(() => spy.mockRestore());
  file.append('second');
  await expect(file.sync()).rejects.toThrow('the disk is full');
  expect([file.appended, file.saved]).toEqual([2, 1]);
  await file.close();
});

it('keeps the whole lines of a write that failed', async (test) => {
  const rig = await batchRig(test);
  const file = await ResultFile.open(rig.path('out'), 0, false);
  const handle = await open(rig.path('other'), 'w');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { write } = prototype;
  // The disk takes "first", half of "second", and then nothing.
  const spy = vi.spyOn(prototype, 'write').mockImplementation(async function (
    this: unknown,
    ...args: unknown[]
  ) {
    if (args[1] !== 0) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    return write.call(this, args[0], 0, 9, null);
  });
  test.onTestFinished(() => spy.mockRestore());
  for (const line of ['first', 'second', 'third']) file.append(line);
  await file.flush();
  spy.mockRestore();
  expect(file.unwrittenLines).toEqual(['second', 'third']);
  await file.sync();
  await file.close();
  expect(readFileSync(rig.path('out'), 'utf8')).toBe('first\nsecond\nthird\n');
});

for (const [code, count] of [
  ['EIO', 1],
  ['ENOSPC', 1],
  ['EINVAL', 0],
  ['ENOSYS', 0],
  ['ENOTSUP', 0],
  ['EOPNOTSUPP', 0],
  ['ERR_ACCESS_DENIED', 0],
] as const) {
  it(`reports ${count} errors where a sync fails with ${code}`, async (test) => {
    const { rig, file, errors, prototype } = await watchedFile(test);
    const refusal = Object.assign(new Error('no sync'), { code });
    const spy = vi.spyOn(prototype, 'datasync').mockRejectedValue(refusal);
    test.onTestFinished(() => spy.mockRestore());
    file.append('a line');
    await file.sync().catch(() => {});
    expect(spy).toHaveBeenCalledTimes(1);
    expect(errors).toHaveLength(count);
    spy.mockRestore();
    await file.close();
    expect(readFileSync(rig.path('out'), 'utf8')).toBe('a line\n');
  });
}

it('is on disk within a second of the result', async (test) => {
  const rig = await batchRig(test);
  const handle = await open(rig.path('other'), 'w');
  const sync = vi.spyOn(Object.getPrototypeOf(handle), 'datasync');
  await handle.close();
  test.onTestFinished(() => sync.mockRestore());
  const now = vi.spyOn(performance, 'now');
  test.onTestFinished(() => now.mockRestore());
  now.mockReturnValue(1_000);
  const file = await ResultFile.open(rig.path('out'), 0, false);
  file.append('a');
  await file.flush();
  await file.tick();
  expect(sync).not.toHaveBeenCalled();
  now.mockReturnValue(1_500);
  await file.tick();
  expect(sync).toHaveBeenCalledTimes(1);
  now.mockReturnValue(2_500);
  await file.tick();
  expect(sync).toHaveBeenCalledTimes(1);
  await file.close();
});
