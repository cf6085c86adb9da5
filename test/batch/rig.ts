import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { type BatchOptions, type BatchReport, BatchRun, type Send } from '../../src/batch/index.ts';
import type { ResultLine } from '../../src/batch/ledger/result-line.ts';

/** A folder, and batches of the files in it that are sent to a function. */
export interface BatchRig {
  readonly folder: string;
  /** Prompts (or inputs) that were sent, in order. */
  readonly sent: string[];
  path(name: string): string;
  /** Writes a file; an array becomes lines of JSON. */
  write(name: string, content: string | Uint8Array | readonly unknown[]): string;
  read(name?: string): string;
  exists(name: string): boolean;
  /** Of `in.jsonl` into `out.jsonl`, with a model, unless options say otherwise. */
  open(options?: Partial<BatchOptions>): BatchRun;
  run(options?: Partial<BatchOptions>): Promise<BatchReport>;
  results(name?: string): ResultLine[];
}

/** The answer to a prompt is the prompt, in capitals. */
export const answer: Send = async ({ body }) => ({
  statusCode: 200,
  requestId: 'req-1',
  body: {
    choices: [{ message: { role: 'assistant', content: promptOf(body).toUpperCase() } }],
    usage: { prompt_tokens: 100, completion_tokens: 50 },
  },
});

export async function batchRig(test: TestContext, send: Send = answer): Promise<BatchRig> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-batch-'));
  test.onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = (name: string) => join(folder, name);
  const sent: string[] = [];
  const open = (options: Partial<BatchOptions> = {}) =>
    new BatchRun({
      input: path('in.jsonl'),
      output: path('out.jsonl'),
      model: 'm',
      send: (request, context) => {
        sent.push(promptOf(request.body));
        return send(request, context);
      },
      telemetry: false,
      // At full speed from the start.
      adaptive: 'rate',
      ...options,
    });
  return {
    folder,
    sent,
    path,
    write: (name, content) => {
      const isText = typeof content === 'string' || content instanceof Uint8Array;
      writeFileSync(path(name), isText ? content : jsonLines(content));
      return path(name);
    },
    read: (name = 'out.jsonl') => readFileSync(path(name), 'utf8'),
    exists: (name) => existsSync(path(name)),
    open,
    run: async (options) => open(options).run(),
    results: (name = 'out.jsonl') =>
      readFileSync(path(name), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}

export function jsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** `{"id": "p0", "prompt": "p0"}` and so on. */
export function prompts(count: number): { id: string; prompt: string }[] {
  return Array.from({ length: count }, (_, index) => ({ id: `p${index}`, prompt: `p${index}` }));
}

function promptOf(body: Readonly<Record<string, unknown>>): string {
  const { messages, input } = body;
  const last: unknown = Array.isArray(messages) ? messages.at(-1)?.content : input;
  return typeof last === 'string' ? last : JSON.stringify(last);
}
