import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { ResultLine } from '../../../src/batch/ledger/result-line.ts';
import { type AnswerServer, type AnswerServerOptions, startAnswerServer } from './answer-server.ts';

/** The environment variables that the command reads. */
export const VARIABLES =
  /^(OPENAI_|ANTHROPIC_|HEADGATE_|OTEL_|https?_proxy$|HTTPS?_PROXY$|NO_PROXY$|no_proxy$)/;

/** A folder for the command's files, and a server that answers its requests. */
export interface CommandFiles {
  readonly folder: string;
  readonly server: AnswerServer;
  /** Writes a file into the folder; an array becomes lines of JSON. */
  write(name: string, content: string | Uint8Array | readonly unknown[]): string;
  path(name: string): string;
  results(name?: string): ResultLine[];
}

/** Makes them for a test, at whose end they are removed and the server is closed. */
export async function commandFiles(
  test: TestContext,
  options: AnswerServerOptions = {},
): Promise<CommandFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-run-'));
  test.onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const server = await startAnswerServer(options);
  test.onTestFinished(() => server.close());
  const path = (name: string) => join(folder, name);
  return {
    folder,
    server,
    path,
    write: (name, content) => {
      const isText = typeof content === 'string' || content instanceof Uint8Array;
      writeFileSync(path(name), isText ? content : jsonLines(content));
      return name;
    },
    results: (name = 'out.jsonl') => readLines(path(name)),
  };
}

export function jsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** @throws SyntaxError where a line is not whole */
function readLines(file: string): ResultLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** `{"id": "p0", "prompt": "p0"}` and so on. */
export function prompts(count: number): { id: string; prompt: string }[] {
  return Array.from({ length: count }, (_, index) => ({ id: `p${index}`, prompt: `p${index}` }));
}
