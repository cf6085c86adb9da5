import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createProgram } from '../../src/batch/command/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'headgate-options-'));
const [input, limits] = [join(folder, 'in.jsonl'), join(folder, 'limits.json')];

beforeAll(() => {
  writeFileSync(input, '{"id": "p0", "prompt": "p0"}\n');
  writeFileSync(limits, '{"requestsPerMinut": 3}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The commands print their errors, too. */
function silenced(command: Command): Command {
  command.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  command.commands.forEach(silenced);
  return command;
}

/** What the command fails with: in this process, since to start one takes half a second. */
async function errorOf(args: readonly string[]): Promise<unknown> {
  vi.stubEnv('OPENAI_API_KEY', 'none');
  const ended: number[] = [];
  const program = silenced(createProgram((code) => ended.push(code)));
  const error = await program.parseAsync(args, { from: 'user' }).catch((thrown) => thrown);
  expect(ended).toEqual([]);
  return error;
}

describe('a wrong option of headgate run is named', () => {
  it.each<[args: string[], says: string]>([
    [['--concurency', '3'], 'Did you mean --concurrency?'],
    [['--timeout', 'soon'], '--timeout must be a time such as 90s'],
    [['--changed', 'x'], '--changed must be one of fail, rerun, keep'],
    [['--append', '--overwrite'], 'exclude each other'],
    [['--header', 'x'], '--header must have the form "Name: value"'],
    [['--config', limits], 'did you mean `requestsPerMinute`'],
    [['--config', 'none'], '--config none: there is no such file'],
    [['--max-cost', '3'], 'a bound of the cost needs prices'],
    [['--base-url', 'here'], '--base-url must be an http or https URL'],
    [['--redis', 'http://h'], '--redis must be a redis or rediss URL'],
    [['--redis', 'redis://h', '--timeout', '5s'], 'headgate work'],
    [['--redis', 'redis://h', '--rpm', '0'], '--rpm must be a whole number >= 1'],
  ])('%j', async (args, says) => {
    const out = join(folder, 'out.jsonl');
    const error = await errorOf(['run', input, '--out', out, '--model', 'm', ...args]);
    expect(error).toMatchObject({ message: expect.stringContaining(says) });
  });
});

describe('a wrong option of headgate work is named', () => {
  it.each<[args: string[], says: RegExp]>([
    [[], /--redis URL is missing/],
    [
      ['--redis', 'redis://127.0.0.1:1', '--base-url', 'http://h'],
      /--redis 127.0.0.1:1: .*ECONNREFUSED/,
    ],
    [
      ['--redis', 'redis://h', '--queue', 'a:b', '--base-url', 'http://h'],
      /--queue must be without colons/,
    ],
  ])('%j', async (args, says) => {
    expect(await errorOf(['work', ...args])).toMatchObject({
      message: expect.stringMatching(says),
    });
  });
});
