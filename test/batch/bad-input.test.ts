import { spawn } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { appendFile, chmod, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, type TestContext } from 'vitest';
import { BatchError } from '../../src/batch/index.ts';
import { readPriceFile } from '../../src/batch/money.ts';
import { answer, type BatchRig, batchRig, jsonLines, prompts } from './rig.ts';

/** Polls until a condition holds. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The error of a run about its input, before anything is sent. */
async function refusal(rig: BatchRig, options: Parameters<BatchRig['run']>[0] = {}) {
  const error = await (async () => rig.run(options))().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BatchError);
  expect(rig.sent).toEqual([]);
  expect(rig.exists('out.jsonl.lock')).toBe(false);
  return error as BatchError;
}

/** The error about an input with one good line before the bad one. */
async function refusalOf(test: TestContext, bad: string | object): Promise<string> {
  const rig = await batchRig(test);
  const text = typeof bad === 'string' ? `${bad}\n` : jsonLines([bad]);
  rig.write('in.jsonl', `{"prompt": "good"}\n${text}`);
  const { message, exitCode } = await refusal(rig);
  expect(exitCode).toBe(2);
  expect(message).toContain('in.jsonl:2: ');
  expect(message).toContain('Nothing was sent');
  expect(rig.exists('out.jsonl')).toBe(false);
  return message;
}

describe('a line that cannot be sent is reported before anything is sent', () => {
  it.for<[name: string, bad: string | object, says: string]>([
    ['no JSON', '{"prompt": "cut o', 'not JSON: '],
    ['plain text', 'Write a poem', 'for lines of plain text, say --text'],
    ['no object', '12', 'a line must be a JSON object'],
    [
      'a list',
      '[{"prompt": "a"}]',
      'a line must be a JSON object (of a JSON list, make one object',
    ],
    ['an object over several lines', '{', 'not JSON: '],
    ['a list over several lines', '[', "make one object a line: jq -c '.[]'"],
    ['a result', { custom_id: 'a', response: null, error: null }, 'this is a line of results'],
    ['an unknown top field', { custom_id: 'a', body: {}, temperature: 1 }, '"temperature"'],
    [
      'a missing body',
      { custom_id: 'a', method: 'POST', url: '/v1/chat/completions' },
      'no "body"',
    ],
    ['a body that is none', { body: 'text' }, '"body" must be an object'],
    ['another method', { method: 'GET', body: {} }, '"method" must be "POST", got "GET"'],
    ['a whole url', { url: 'https://api.openai.com/v1/x', body: {} }, '"url" must be a path'],
    ['a way out of /v1', { url: '/v1/files/../../admin', body: {} }, '"url" must be a path'],
    ['a prompt that is no text', { prompt: 3 }, '"prompt" must be a text'],
    ['a prompt and messages', { prompt: 'a', messages: [] }, 'both "prompt" and "messages"'],
    ['a body of another API', { input: 'a' }, 'say --api responses or --api embeddings'],
    ['messages that are a text', { messages: 'Hi' }, '"messages" must be a list of messages, such'],
    ['no message', { body: { messages: [] } }, '"messages" must be a list of messages, such as '],
    ['a message that is a text', { messages: ['Hi'] }, ' got ["Hi"]'],
    ['a body without messages', { body: { temperature: 1 } }, 'the body has no "messages"'],
    [
      'an input that is none',
      { url: '/v1/embeddings', body: { input: [] } },
      '"input" must be a text, or a list that is not empty, got []',
    ],
    ['nothing to send', { temperature: 1 }, 'there is nothing to send'],
    ['a stream', { prompt: 'a', stream: true }, '"stream": true has no place in a batch'],
    ['metadata that is none', { prompt: 'a', metadata: 'x' }, '"metadata" must be an object'],
    ['an id that is none', { id: ['a'], prompt: 'a' }, '"id" must be a text, got ["a"]'],
    ['an empty custom_id', { custom_id: '', prompt: 'a' }, '"custom_id" must be a text, got ""'],
    ['an id of 1 MB', { id: 'x'.repeat(1e6), prompt: 'a' }, 'at most 4096 bytes, got 1000000'],
  ])('%s', async ([_name, bad, says], test) => {
    expect(await refusalOf(test, bad)).toContain(says);
  });

  it('an id that two lines have, with both lines', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', [...prompts(5), { id: 'p2', prompt: 'again' }]);
    const { message } = await refusal(rig);
    expect(message).toContain('in.jsonl:6: the id "p2" was used before, in ');
    expect(message).toContain('in.jsonl:3: each id must be there once');
  });

  it('no model', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    const { message } = await refusal(rig, { model: undefined });
    expect(message).toContain('no model: put "model" into the body, or say --model NAME');
  });

  it('several at once, up to ten', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', `${'{"prompt": 1}\n'.repeat(3)}{"prompt": "good"}\n`);
    const { message } = await refusal(rig);
    expect(message.split('\n')).toHaveLength(4);
    expect(message).toContain('3 lines cannot be sent, and nothing was sent:');
    rig.write('in.jsonl', '{"prompt": 1}\n'.repeat(30));
    expect((await refusal(rig)).message).toContain('at least 10 lines cannot be sent');
  });
});

describe('a file that cannot be read', () => {
  it('is not there', async (test) => {
    const rig = await batchRig(test);
    expect((await refusal(rig)).message).toContain('in.jsonl: there is no such file');
  });

  it('is empty, or has only empty lines', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', '\n\r\n \n');
    expect((await refusal(rig)).message).toContain('there are no requests in the input');
  });

  it('is a directory', async (test) => {
    const rig = await batchRig(test);
    mkdirSync(rig.path('folder'));
    const { message } = await refusal(rig, { input: rig.path('folder') });
    expect(message).toContain('this is a directory: name its files, such as ');
  });

  it('is binary', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', new Uint8Array([0x89, 0x50, 0xff, 0xfe, 10]));
    const { message } = await refusal(rig);
    expect(message).toContain('in.jsonl:1: not UTF-8 text: is this a binary file?');
  });

  it('is named twice, or matches no file', async (test) => {
    const rig = await batchRig(test);
    const file = rig.write('in.jsonl', prompts(1));
    expect((await refusal(rig, { input: [file, file] })).message).toContain('is named twice');
    const pattern = rig.path('*.csv');
    expect((await refusal(rig, { input: pattern })).message).toContain('no file matches');
  });

  it('is gzip data that ends early or is damaged, or none', async (test) => {
    const rig = await batchRig(test);
    const whole = gzipSync(jsonLines(prompts(2_000)));
    const input = rig.write('in.jsonl.gz', whole.subarray(0, whole.length / 2));
    const { message } = await refusal(rig, { input });
    expect(message).toMatch(/in\.jsonl\.gz:\d+: the gzip data ends early: the file was cut off/);
    const damaged = Buffer.from(whole);
    damaged.fill(0, whole.length - 8); // its checksum
    rig.write('in.jsonl.gz', damaged);
    expect((await refusal(rig, { input })).message).toContain(
      'the gzip data is damaged (incorrect data check): make it anew',
    );
    const none = 'this is no gzip data, or something else follows it';
    for (const content of [jsonLines(prompts(3)), Buffer.concat([whole, Buffer.from('more')])]) {
      rig.write('in.jsonl.gz', content);
      expect((await refusal(rig, { input })).message).toContain(none);
    }
  });

  it('is a table that is not UTF-8', async (test) => {
    const rig = await batchRig(test);
    // Characters that are split between two pieces of the file are read correctly.
    const rows = `${'ä€🙂'.repeat(1_000)},b\n`.repeat(40);
    const input = rig.write('in.csv', `prompt,n\n${rows}`);
    expect(await rig.run({ input, output: rig.path('good.jsonl') })).toMatchObject({ ok: 40 });
    rig.sent.length = 0;
    const latin = Buffer.from('caf\u00e9,c\n', 'latin1');
    rig.write('in.csv', Buffer.concat([Buffer.from(`prompt,n\n${rows}`), latin]));
    const { message } = await refusal(rig, { input });
    expect(message).toContain('in.csv:42: not UTF-8 text: save the table as UTF-8');
  });

  it('is a table whose template names a property of every object', async (test) => {
    const rig = await batchRig(test);
    const input = rig.write('in.csv', 'name\na\n');
    const { message } = await refusal(rig, { input, template: '{{constructor}}' });
    expect(message).toContain('there is no column "constructor"');
  });

  it('is a table without the column of the template', async (test) => {
    const rig = await batchRig(test);
    const input = rig.write('in.csv', 'name,text\na,b\n');
    const { message } = await refusal(rig, { input, template: 'Say {{nmae}}' });
    expect(message).toContain('in.csv:2: there is no column "nmae": the table has name, text');
    rig.write('in.csv', 'name,text\na,b\nc\n');
    expect((await refusal(rig, { input, template: '{{name}}' })).message).toContain('in.csv:3');
  });

  it('is a row of too few columns, after cells with line breaks of Windows', async (test) => {
    const rig = await batchRig(test);
    const input = rig.write('in.csv', 'name,"the\r\ntext"\r\na,"b\r\nc"\r\n"d\r\ne"\r\n');
    const { message } = await refusal(rig, { input, template: '{{name}}' });
    expect(message).toMatch(/in\.csv:6: not a table: Invalid Record Length: .* got 1$/m);
  });

  it('is a table with a template that names no column', async (test) => {
    const rig = await batchRig(test);
    const input = rig.write('in.csv', 'name,text\na,b\nc,d\n');
    const { message } = await refusal(rig, { input, template: 'Say {name}' });
    expect(message).toContain('--template must have a {{column}} in it, got "Say {name}"');
  });

  it('is a table with two columns of one name', async (test) => {
    const rig = await batchRig(test);
    const input = rig.write('in.csv', 'name,text,,text,\na,b,,c,\n');
    const { message } = await refusal(rig, { input, template: '{{text}}' });
    expect(message).toBe(
      `${input}: two columns have the name "text": each name must be there once`,
    );
    // A spreadsheet may leave several columns without a name.
    rig.write('in.csv', 'name,text,,\na,b,,\n');
    expect(await rig.run({ input, template: '{{text}}' })).toMatchObject({ ok: 1 });
    expect(rig.sent).toEqual(['b']);
  });
});

describe('an output that must not be written to', () => {
  it('is a directory', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    mkdirSync(rig.path('out'));
    const { message } = await refusal(rig, { output: rig.path('out') });
    expect(message).toContain('this is a directory; name a file in it');
  });

  it.runIf(process.platform === 'linux')('is a pipe without a name in a folder', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    // As `/dev/stdout` is for a program whose output goes to another one.
    const end = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
    test.onTestFinished(() => void end.kill());
    const output = `/proc/${end.pid}/fd/0`;
    const { message } = await refusal(rig, { output });
    expect(message).toBe(
      `cannot write ${output}: results are read again to resume, so it must be a file`,
    );
  });

  it('is in a folder that is not there', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    const { message } = await refusal(rig, { output: rig.path('no/out.jsonl') });
    const lock = rig.path('no/out.jsonl.lock');
    expect(message).toBe(`cannot write ${lock}: there is no folder ${rig.path('no')}`);
  });

  it('is below a file', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    const { message, exitCode } = await refusal(rig, { output: rig.path('in.jsonl/out.jsonl') });
    expect(message).toContain('in.jsonl/out.jsonl.lock: a part of the path is no directory');
    expect(exitCode).toBe(2);
  });

  it.runIf(process.platform === 'linux')(
    'is in a place where not even root may write',
    async (test) => {
      const rig = await batchRig(test);
      rig.write('in.jsonl', prompts(1));
      const { message, exitCode } = await refusal(rig, { output: '/sys/out.jsonl' });
      expect(message).toBe('cannot write /sys/out.jsonl.lock: permission denied');
      expect(exitCode).toBe(2);
    },
  );

  it.skipIf(process.getuid?.() === 0)('may not be written', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    await chmod(rig.write('out.jsonl', ''), 0o444);
    expect((await refusal(rig)).message).toContain('permission denied');
  });

  it('is not a results file, and is left unchanged', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    for (const content of ['{"rpm": 500}\n', 'a letter', '{"custom_id": "p0"}\nx\n', '\n']) {
      rig.write('out.jsonl', content);
      const { message } = await refusal(rig);
      expect(message).toContain('--overwrite to replace it');
      expect(rig.read()).toBe(content);
    }
  });

  it('has results and a line that is none: to replace it would lose them', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(2));
    await rig.run();
    rig.sent.length = 0;
    rig.write('out.jsonl', `${rig.read()}x\n`);
    expect((await refusal(rig)).message).toMatch(
      /out\.jsonl:3: this is no line of results\. .*: remove this line to keep the results of the/,
    );
  });

  it('is an input, through a link too, even with --overwrite', async (test) => {
    const rig = await batchRig(test);
    const input = rig.write('in.jsonl', prompts(1));
    symlinkSync(input, rig.path('link'));
    for (const existing of ['resume', 'overwrite', 'append'] as const) {
      const own = await refusal(rig, { output: input, existing });
      expect(own.message).toContain('is an input: give another --out');
      const linked = await refusal(rig, { output: rig.path('link'), existing });
      expect(linked.message).toContain('is the same file as');
    }
    expect(rig.read('in.jsonl')).toBe(jsonLines(prompts(1)));
  });

  it('has a second name, whose lock would be another one', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(1));
    await rig.run();
    rig.sent.length = 0;
    const before = rig.read();
    linkSync(rig.path('out.jsonl'), rig.path('name.jsonl'));
    for (const existing of ['resume', 'overwrite', 'append'] as const) {
      const { message } = await refusal(rig, { output: rig.path('name.jsonl'), existing });
      expect(message).toContain('name.jsonl has 2 names (hard links)');
    }
    expect(rig.read()).toBe(before);
  });

  it('has results of another input, without --append or --overwrite', async (test) => {
    const rig = await batchRig(test);
    rig.write('in.jsonl', prompts(2));
    await rig.run();
    rig.sent.length = 0;
    rig.write('in.jsonl', [{ id: 'other', prompt: 'other' }]);
    expect((await refusal(rig)).message).toContain('has results, but none of this input');
    expect((await rig.run({ existing: 'append' })).ok).toBe(1);
    expect(rig.results().map(({ custom_id }) => custom_id)).toEqual(['p0', 'p1', 'other']);
    expect((await rig.run({ existing: 'overwrite' })).ok).toBe(1);
    expect(rig.results().map(({ custom_id }) => custom_id)).toEqual(['other']);
  });
});

describe('while a run goes on', () => {
  it('a changed line ends it, and the results so far are kept', async (test) => {
    const rig = await batchRig(test, async ({ id }) => {
      // The file is read in pieces of 64 KiB: the end of it is not in memory yet.
      if (id === 'p0') await writeFile(rig.path('in.jsonl'), changed);
      return { statusCode: 200, body: {} };
    });
    const filler = 'x'.repeat(2_000);
    const lines = prompts(400).map((line) => ({ ...line, filler }));
    const changed = jsonLines(lines.map((line) => (line.id === 'p350' ? { ...line, n: 1 } : line)));
    rig.write('in.jsonl', lines);
    const report = await rig.run({ concurrency: 1 });
    expect(report.stop?.reason).toBe('input');
    expect(report.stop?.message).toMatch(/in\.jsonl:3\d\d: /);
    expect(report.stop?.message).toContain('their results are kept');
    expect(rig.results().length).toBeGreaterThan(300);
    // The same command continues with the new content.
    const again = await rig.run();
    expect([again.ok + again.doneBefore, again.stop]).toEqual([400, undefined]);
  });

  it('all lines before a wrong one are sent first', async (test) => {
    const rig = await batchRig(test, async (request, context) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return answer(request, context);
    });
    const filler = 'x'.repeat(2_000);
    rig.write('in.jsonl', [...prompts(100).map((line) => ({ ...line, filler }))]);
    const batch = rig.open({ concurrency: 2 });
    const running = batch.run();
    await until(() => rig.sent.length > 0);
    await appendFile(rig.path('in.jsonl'), 'oh\n');
    const report = await running;
    expect(report).toMatchObject({ ok: 100, stop: { reason: 'input' } });
    expect(report.stop?.message).toContain('in.jsonl:101: not JSON');
  });

  it('added lines end it too, because they were not checked', async (test) => {
    const rig = await batchRig(test, async () => {
      if (rig.sent.length === 1) await appendFile(rig.path('in.jsonl'), '{"prompt": "late"}\n');
      return { statusCode: 200, body: {} };
    });
    const filler = 'x'.repeat(2_000);
    rig.write(
      'in.jsonl',
      prompts(100).map((line) => ({ ...line, filler })),
    );
    const report = await rig.run({ concurrency: 1 });
    expect(report.stop?.message).toContain('in.jsonl:101: the line has changed since');
    expect(report.ok).toBe(100);
  });
});

describe('prices', () => {
  it('are refused if they have a wrong form, or lack a model', async (test) => {
    const rig = await batchRig(test);
    const file = rig.write('prices.json', '{"gpt": {"in": 1}}');
    expect(() => readPriceFile(file)).toThrow('the prices of "gpt" are not of the form');
    expect(() => readPriceFile(rig.path('none'))).toThrow('there is no such file');
    rig.write('prices.json', 'x');
    expect(() => readPriceFile(file)).toThrow('not JSON of the form');
    rig.write('in.jsonl', prompts(1));
    const { message } = await refusal(rig, { prices: { gpt: { in: 1, out: 2 } } });
    expect(message).toContain('in.jsonl:1: there is no price for the model "m"');
    const unpriced = await refusal(rig, { maxCost: 3 });
    expect(unpriced.message).toContain('a bound of the cost needs prices');
  });
});
