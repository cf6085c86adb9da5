import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { BatchError, runBatch } from '../../src/batch/index.ts';
import { inProgram } from '../../src/batch/run-batch.ts';
import { answer, batchRig, prompts } from './rig.ts';

const SOURCES = fileURLToPath(new URL('../../src/batch', import.meta.url));
/** Parts that only the command uses, and functions that it shares with programs. */
const OTHERS = /^(command|queue|screen|cache)\/|^(money|run-batch)\.ts$/;

it('errors name the options of runBatch, and those of the command not', async (test) => {
  const { write, path } = await batchRig(test);
  write('in.jsonl', prompts(1));
  const options = { input: path('in.jsonl'), output: path('out.jsonl'), send: answer };
  const error = await runBatch(options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(BatchError);
  expect(error.message).toContain('no model: put "model" into the body, or say `model`');
  expect(error.stack).toContain('or say `model`');
  await expect(runBatch({ ...options, maxCost: 1 })).rejects.toThrow('needs prices: give `prices`');
});

it('so does the reason for which a run has stopped', async (test) => {
  const { write, path } = await batchRig(test);
  write('in.jsonl', prompts(3));
  const prices = { m: { in: 1_000_000, out: 1_000_000 } };
  const base = { input: path('in.jsonl'), output: path('out.jsonl'), model: 'm', send: answer };
  const { stop } = await runBatch({ ...base, prices, maxCost: 1, telemetry: false });
  expect(stop?.message).toContain('more than is left of `maxCost` 1: raise it');
});

it('every option of the command that a message names has its words for programs', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  const named = files
    .filter((file) => file.endsWith('.ts') && !OTHERS.test(file))
    .flatMap((file) => readFileSync(join(SOURCES, file), 'utf8').split('\n'))
    .filter((line) => /--[a-z]/.test(line) && !/^\s*(\/?\*|\/\/)/.test(line))
    // An option whose value is put in.
    .map((line) => line.replace(/--api \$\{[^}]*\}/, ''));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((line) => /--[a-z]/.test(inProgram(line)))).toEqual([]);
  expect(inProgram('--model-len x--out my--append')).toBe('--model-len x--out my--append');
});
