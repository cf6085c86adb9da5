import { execFileSync, spawn } from 'node:child_process';
import { linkSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Pipe } from '../../../src/batch/input/pipe.ts';
import { type BatchRig, batchRig, jsonLines, prompts } from '../rig.ts';

function pipeIn(rig: BatchRig): string {
  const pipe = rig.path('pipe');
  execFileSync('mkfifo', [pipe]);
  return pipe;
}

it('a pipe is read once, as it is sent', async (test) => {
  const rig = await batchRig(test);
  const pipe = pipeIn(rig);
  // More than a pipe holds.
  const lines = prompts(40).map((line) => ({ ...line, filler: 'x'.repeat(4_000) }));
  rig.write('lines', lines);
  const copy = () => spawn('sh', ['-c', 'cat "$0" > "$1"', rig.path('lines'), pipe]);
  copy();
  expect(await rig.run({ input: pipe })).toMatchObject({ ok: 40, total: undefined });
  copy();
  expect(await rig.run({ input: pipe })).toMatchObject({ ok: 0, doneBefore: 40 });
});

it('a pipe without requests writes no results, and leaves an existing output unchanged', async (test) => {
  const rig = await batchRig(test);
  const pipe = pipeIn(rig);
  const runEmpty = () => {
    spawn('sh', ['-c', ': > "$0"', pipe]);
    return rig.run({ input: pipe });
  };
  await expect(runEmpty()).rejects.toThrow('there are no requests in the input');
  expect(rig.exists('out.jsonl')).toBe(false);
  rig.write('out.jsonl', '');
  await expect(runEmpty()).rejects.toThrow('there are no requests in the input');
  expect(rig.read()).toBe('');
});

it('a stopped run does not wait for a pipe without a writer', async (test) => {
  const stopping = new AbortController();
  const rig = await batchRig(test);
  const run = rig.run({ input: pipeIn(rig), signal: stopping.signal });
  stopping.abort();
  expect((await run).stop?.reason).toBe('interrupted');
  for (const isWaiting of [true, false]) {
    const pipe = new Pipe(rig.path('pipe'));
    const read = pipe.read().next();
    if (isWaiting) await new Promise((resolve) => setTimeout(resolve, 20));
    pipe.close();
    expect(await read).toMatchObject({ done: true });
  }
});

it('a pipe that is closed while it is read ends', async (test) => {
  const rig = await batchRig(test);
  const pipe = new Pipe(pipeIn(rig));
  const lines = pipe.read();
  const first = lines.next();
  const writer = spawn('sh', ['-c', 'exec > "$0"; echo first; exec sleep 60', rig.path('pipe')]);
  test.onTestFinished(() => {
    writer.kill();
  });
  expect(String((await first).value)).toBe('first\n');
  const next = lines.next();
  await new Promise((resolve) => setTimeout(resolve, 20));
  pipe.close();
  expect(await next).toMatchObject({ done: true });
});

it('a file that becomes shorter while it is sent ends the run with an error', async (test) => {
  const rig = await batchRig(test, async () => {
    if (rig.sent.length === 1) writeFileSync(rig.path('in.jsonl'), jsonLines(lines.slice(0, 30)));
    return { statusCode: 200, body: {} };
  });
  // The file is read in pieces of 64 KiB, which end with a line: the end is not in memory yet.
  const lines = prompts(400).map((line) => {
    const padding = 2_048 - jsonLines([{ ...line, filler: '' }]).length;
    return { ...line, filler: 'x'.repeat(padding) };
  });
  rig.write('in.jsonl', lines);
  const report = await rig.run({ concurrency: 1 });
  expect(report.stop).toMatchObject({ reason: 'input' });
  expect(report.stop?.message).toMatch(/the input has changed .*: \d+ lines are missing/);
  expect(report.left).toBeGreaterThan(0);
});

it('one file with two names is refused', async (test) => {
  const rig = await batchRig(test);
  const input = rig.write('in.jsonl', prompts(2));
  symlinkSync(input, rig.path('symbolic'));
  linkSync(input, rig.path('hard'));
  const names = [`${rig.folder}/./in.jsonl`, rig.path('symbolic'), rig.path('hard')];
  for (const name of names) {
    expect(() => rig.open({ input: [input, name] })).toThrow(`is the same input as ${input}`);
  }
});
