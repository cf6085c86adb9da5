import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PromptsError, readPrompts } from '../../examples/batch/prompts.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headgate-prompts-'));
  file = join(folder, 'prompts.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const read = async (text: string, limit = Number.POSITIVE_INFINITY) => {
  await writeFile(file, text);
  return readPrompts(file, limit);
};

describe('readPrompts', () => {
  it('reads prompts and conversations, whatever ends the lines', async () => {
    const messages = [{ role: 'system', content: 'be dry' }];
    const first = '{"id":"a","prompt":"hello","max_tokens":5}';
    const second = JSON.stringify({ messages });
    expect(await read(`\uFEFF${first}\r\n\n${second}`)).toEqual([
      { id: 'a', index: 0, messages: [{ role: 'user', content: 'hello' }], maxTokens: 5 },
      { id: 'line 3', index: 1, messages, maxTokens: undefined },
    ]);
  });

  it('looks at nothing after the limit', async () => {
    expect(await read('{"prompt":"a"}\nnot JSON', 1)).toHaveLength(1);
  });

  it.each([
    ['{"id":', /:2: not JSON: /],
    ['"hello"', ':2: a prompt must be an object'],
    ['[]', ':2: a prompt must be an object'],
    ['{"id":7,"prompt":"a"}', ':2: `id` must be a string'],
    ['{"prompt":"a","max_tokens":0}', ':2: `max_tokens` must be an integer >= 1, got 0'],
    ['{"id":"a"}', ':2: a prompt must have either'],
    ['{"prompt":"a","messages":[]}', ':2: a prompt must have either'],
    ['{"messages":[]}', ':2: a prompt must have either'],
    ['{"messages":[{"content":"a"}]}', ':2: a prompt must have either'],
  ])('refuses %s with file and line', async (line, message) => {
    const reading = read(`{"prompt":"a"}\n${line}\n`);
    await expect(reading).rejects.toThrow(PromptsError);
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toThrow(file);
  });

  it('says what is wrong with the file', async () => {
    await expect(read('\n\n')).rejects.toThrow(`${file}: there are no prompts in this file`);
    await expect(readPrompts(folder, 1)).rejects.toThrow(`${folder}: this is a directory`);
    await expect(readPrompts(`${file}x`, 1)).rejects.toThrow(`${file}x: there is no such file`);
  });
});
