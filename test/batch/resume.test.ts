import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BatchError } from '../../src/batch/index.ts';
import { answer, batchRig, prompts } from './rig.ts';

describe('a run with existing results', () => {
  it('sends only lines without a successful result', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(10).slice(0, 6));
    await rig.run();
    rig.sent.length = 0;
    rig.write('in.jsonl', prompts(10));
    const report = await rig.run();
    expect(rig.sent).toEqual(['p6', 'p7', 'p8', 'p9']);
    expect(report).toMatchObject({ total: 10, doneBefore: 6, ok: 4, failed: 0, left: 0 });
    expect(rig.results().map(({ custom_id }) => custom_id)).toEqual(
      prompts(10).map(({ id }) => id),
    );
    await rig.run();
    expect(rig.sent).toHaveLength(4);
  });

  it('cuts off half a line that a crash has left, wherever it was cut', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(3));
    await rig.run();
    const whole = rig.read();
    const start = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let length = start; length < whole.length - 1; length += 37) {
      rig.sent.length = 0;
      truncateSync(rig.path('out.jsonl'), length);
      const report = await rig.run();
      expect(report.tornBytes).toBe(length - start);
      expect(rig.sent).toHaveLength(1);
      expect(rig.results()).toHaveLength(3);
    }
  });

  it('cuts off a line that a crash has cut within a character', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', [{ prompt: 'one' }, { prompt: 'zwölf' }]);
    await rig.run();
    const bytes = Buffer.from(rig.read());
    truncateSync(rig.path('out.jsonl'), bytes.indexOf('Ö') + 1);
    expect(await rig.run()).toMatchObject({ doneBefore: 1, ok: 1 });
    expect(rig.sent).toEqual(['one', 'zwölf', 'zwölf']);
    expect(rig.results()).toHaveLength(2);
  });

  it('cuts off half of the very first line too', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    await rig.run();
    truncateSync(rig.path('out.jsonl'), 30);
    expect(await rig.run()).toMatchObject({ ok: 1, tornBytes: 30 });
    truncateSync(rig.path('out.jsonl'), 4);
    expect(await rig.run()).toMatchObject({ ok: 1, tornBytes: 4 });
    expect(rig.results()).toHaveLength(1);
  });

  it('keeps a whole line without newline, and removes zeros that a power cut has left', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(3));
    await rig.run();
    const whole = rig.read();
    truncateSync(rig.path('out.jsonl'), whole.length - 1);
    expect(await rig.run()).toMatchObject({ doneBefore: 3, ok: 0, tornBytes: 0 });
    expect(rig.read()).toBe(whole);
    appendFileSync(rig.path('out.jsonl'), new Uint8Array(500));
    expect(await rig.run()).toMatchObject({ doneBefore: 3, tornBytes: 500 });
    expect(rig.read()).toBe(whole);
  });

  it('sends failed lines only with --retry-failed, or if the line has changed', async (test) => {
    let isUp = false;
    const rig = await batchRig(test, async (request, context) => {
      if (isUp || request.id === 'p0') return answer(request, context);
      return { statusCode: 400, body: { error: { message: 'too long', code: 'length' } } };
    });
    rig.write('in.jsonl', prompts(4));
    expect(await rig.run()).toMatchObject({ ok: 1, failed: 3 });
    expect(rig.results()[1]).toMatchObject({
      custom_id: 'p1',
      response: { status_code: 400 },
      error: { code: '400 length', message: 'too long' },
    });
    isUp = true;
    expect(await rig.run()).toMatchObject({ ok: 0, failed: 0, doneBefore: 1, failedBefore: 3 });
    rig.write('in.jsonl', [...prompts(3), { id: 'p3', prompt: 'mended' }]);
    expect(await rig.run()).toMatchObject({ ok: 1, failedBefore: 2 });
    expect(await rig.run({ retryFailed: true })).toMatchObject({ ok: 2, doneBefore: 2 });
    expect(rig.sent.slice(-3)).toEqual(['mended', 'p1', 'p2']);
  });

  it('names lines that have changed, sends them again, or keeps their results', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(4));
    await rig.run();
    rig.sent.length = 0;
    rig.write('in.jsonl', [...prompts(3), { id: 'p3', prompt: 'another' }]);
    await expect(rig.run()).rejects.toThrow(BatchError);
    await expect(rig.run()).rejects.toThrow(
      /1 line has changed since it was answered: .*in\.jsonl:4\.\nNothing was sent: say --changed rerun/,
    );
    expect(await rig.run({ changed: 'keep' })).toMatchObject({ doneBefore: 4, ok: 0 });
    expect(rig.sent).toEqual([]);
    expect(await rig.run({ changed: 'rerun' })).toMatchObject({ doneBefore: 3, ok: 1 });
    expect(rig.sent).toEqual(['another']);
    expect(await rig.run()).toMatchObject({ doneBefore: 4, ok: 0 });
    // Another model is another request.
    await expect(rig.run({ model: 'n' })).rejects.toThrow('4 lines have changed');
  });
});

describe('lines without ids', () => {
  const lines = (...texts: string[]) => texts.map((prompt) => ({ prompt }));

  it('keep their results if a file is added or removed', async (test) => {
    const rig = await batchRig(test);
    const input = rig.path('*.in.jsonl');
    rig.write('b.in.jsonl', lines('B1', 'B2'));
    expect(await rig.run({ input })).toMatchObject({ ok: 2 });
    // The second line of the new file has the number and content of one that is done.
    rig.write('a.in.jsonl', lines('A1', 'B2', 'A3'));
    expect(await rig.run({ input })).toMatchObject({ doneBefore: 2, ok: 3, left: 0 });
    expect(rig.sent.toSorted()).toEqual(['A1', 'A3', 'B1', 'B2', 'B2']);
    expect(await rig.run({ input })).toMatchObject({ doneBefore: 5, ok: 0 });
    expect(await rig.run({ input: rig.path('a.in.jsonl') })).toMatchObject({ doneBefore: 3 });
    expect(await rig.run({ input: rig.path('b.in.jsonl') })).toMatchObject({ doneBefore: 2 });
    expect(rig.sent).toHaveLength(5);
  });

  it('are sent if another line has got their number', async (test) => {
    const rig = await batchRig(test);
    const input = rig.path('*.in.jsonl');
    rig.write('b.in.jsonl', lines('B1'));
    await rig.run({ input });
    rig.write('a.in.jsonl', lines('A1'));
    rig.write('b.in.jsonl', lines('other'));
    await expect(rig.run({ input })).rejects.toThrow('none of this input');
    expect(await rig.run({ input, existing: 'append' })).toMatchObject({ ok: 2 });
    expect(rig.sent.toSorted()).toEqual(['A1', 'B1', 'other']);
  });
});

describe('two runs of one output', () => {
  it('exclude each other, until the first has ended', async (test) => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const rig = await batchRig(test, async (request, context) => {
      await gate;
      return answer(request, context);
    });
    rig.write('in.jsonl', prompts(2));
    const first = rig.run();
    while (rig.sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(rig.run()).rejects.toThrow(`is being written by process ${process.pid}`);
    open();
    expect((await first).ok).toBe(2);
    expect((await rig.run()).doneBefore).toBe(2);
  });

  it('do not exclude each other if the lock was left by a killed run', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    const own = readFileSync('/proc/sys/kernel/hostname', 'utf8').trim();
    const dead = { pid: '4194999', host: own, started: '1' };
    writeFileSync(rig.path('out.jsonl.lock'), JSON.stringify(dead));
    expect((await rig.run()).ok).toBe(1);
    // The number of a process that lives, but was started at another time.
    const reused = { pid: String(process.pid), host: own, started: '1' };
    writeFileSync(rig.path('out.jsonl.lock'), JSON.stringify(reused));
    expect((await rig.run()).doneBefore).toBe(1);
    const elsewhere = { pid: '1', host: 'another-machine', started: '1' };
    writeFileSync(rig.path('out.jsonl.lock'), JSON.stringify(elsewhere));
    await expect(rig.run()).rejects.toThrow('a run on another-machine (process 1)');
  });
});
