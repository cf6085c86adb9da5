import { open } from 'node:fs/promises';

/** A message in the API's format. */
export interface Message {
  readonly role: string;
  readonly [field: string]: unknown;
}

/** One line of the file. */
export interface Prompt {
  readonly id: string;
  /** The position among the prompts, from 0. */
  readonly index: number;
  readonly messages: readonly Message[];
  readonly maxTokens: number | undefined;
}

/** The file or one of its lines is wrong. The message starts with `file:line`. */
export class PromptsError extends Error {}

/**
 * Reads prompts as a stream, line by line; empty lines are left out. A prompt without an `id` is
 * identified by its line number.
 *
 * @param limit how many prompts to read; the rest of the file is not read
 * @throws PromptsError with file and line
 */
export async function readPrompts(file: string, limit: number): Promise<Prompt[]> {
  const prompts: Prompt[] = [];
  let line = 0;
  for await (const text of linesOf(file)) {
    line += 1;
    const json = line === 1 ? text.replace(/^\uFEFF/, '') : text;
    if (json.trim() === '') continue;
    prompts.push(parsePrompt(json, prompts.length, `${file}:${line}`, `line ${line}`));
    if (prompts.length === limit) break;
  }
  if (prompts.length === 0) throw new PromptsError(`${file}: there are no prompts in this file`);
  return prompts;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    const handle = await open(file);
    try {
      yield* handle.readLines();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new PromptsError(`${file}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EISDIR' ? 'this is a directory, not a file' : error.message;
}

function parsePrompt(json: string, index: number, place: string, defaultId: string): Prompt {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PromptsError(`${place}: not JSON: ${why}`, { cause: error });
  }
  if (!isObject(value)) throw new PromptsError(`${place}: a prompt must be an object`);
  const { id = defaultId, prompt, messages, max_tokens: maxTokens } = value;
  if (typeof id !== 'string') throw new PromptsError(`${place}: \`id\` must be a string`);
  if (maxTokens !== undefined && !isCount(maxTokens)) {
    throw new PromptsError(`${place}: \`max_tokens\` must be an integer >= 1, got ${maxTokens}`);
  }
  if (typeof prompt === 'string' && messages === undefined) {
    return { id, index, messages: [{ role: 'user', content: prompt }], maxTokens };
  }
  if (prompt === undefined && isConversation(messages)) return { id, index, messages, maxTokens };
  throw new PromptsError(
    `${place}: a prompt must have either \`prompt\`, a string, or \`messages\`, a list of {"role", "content"}`,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

function isConversation(value: unknown): value is readonly Message[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((message) => isObject(message) && typeof message.role === 'string')
  );
}
