import { isAnyResponse, isShape, isStatus, read, readList, readText } from './shape.ts';

/** Fields in which errors carry other objects: responses, bodies, API errors, causes, details. */
const INNER = [
  'response',
  '$response',
  'rawResponse',
  'httpResponse',
  'data',
  'body',
  'error',
  'errors',
  'lastError',
  'cause',
  'details',
  'detail',
  'errorDetails',
  'statusDetails',
  'extensions',
  'meta',
] as const;
/** Fields that may hold a body as JSON text. Google's SDK puts it into the message. */
const JSON_TEXTS = ['responseBody', 'body', 'data', 'error', 'message'] as const;
/** Fields in which APIs name the error with one word. */
const WORD_KEYS = [
  'code',
  'name',
  'type',
  'status',
  'reason',
  'error_code',
  'errorCode',
  'error_type',
  '__type',
  'error',
] as const;
const TEXT_KEYS = ['message', 'error', 'details', 'detail', 'Message'] as const;

/** How many objects are read in all. Errors of SDKs nest three deep. */
const MOST_LAYERS = 24;
/** How many items of a list of details or errors are read. */
const MOST_OF_LIST = 8;
/** The longest body that is parsed: API errors are shorter. */
export const LONGEST_JSON = 64 * 1024;
const LONGEST_WORD = 80;
/** Longer messages are cut, since the important part comes first. */
const LONGEST_TEXT = 2_000;

/** The error itself, then all objects inside it, nearest first. */
export function errorChain(thing: unknown, body?: string): unknown[] {
  const found: unknown[] = [];
  const add = (value: unknown) => {
    if (found.length < MOST_LAYERS && isShape(value) && !found.includes(value)) found.push(value);
  };
  add(typeof thing === 'string' ? parsed(thing) : thing);
  if (body !== undefined) add(parsed(body));
  // The list grows while the loop runs. Cycles end when it is full.
  for (const layer of found) {
    const before = found.length;
    for (const item of readList(layer, MOST_OF_LIST)) add(item);
    // Only the status and headers of a response can be read at once.
    if (isAnyResponse(layer)) continue;
    for (const key of INNER) add(read(layer, key));
    for (const key of JSON_TEXTS) {
      if (found.length === MOST_LAYERS) return found;
      // A message that repeats the body adds nothing if the body is there.
      if (key === 'message' && found.length > before) continue;
      const text = readText(layer, key);
      if (text !== undefined) add(parsed(text));
    }
  }
  return found;
}

/** The JSON in a text. Some clients put the status before it. */
const JSON_START = /[{[]\s{0,20}["{]/;

function parsed(text: string): unknown {
  if (text.length > LONGEST_JSON) return undefined;
  const start = text.search(JSON_START);
  if (start < 0) return undefined;
  try {
    return JSON.parse(start === 0 ? text : text.slice(start));
  } catch {
    return undefined;
  }
}

/**
 * A status as text: in the `code` of a body of the LiteLLM proxy and others, and beside the headers
 * in an answer of Azure's REST clients.
 */
const STATUS_TEXT = /^[45]\d\d$/;

/** Statuses below this one say nothing of an error that came with them. */
export const FIRST_OF_ERRORS = 300;

/**
 * The outermost HTTP status, from the fields that fetch, axios, undici and the OpenAI, Anthropic,
 * Google, AWS, Azure and Ollama SDKs and tRPC use. A status of success counts only where there is
 * no other.
 */
export function statusOf(chain: readonly unknown[]): number | undefined {
  const statuses = chain.flatMap(statusesIn);
  return statuses.find((status) => status >= FIRST_OF_ERRORS) ?? statuses[0];
}

function statusesIn(layer: unknown): number[] {
  const status = read(layer, 'status');
  return [
    isShape(read(layer, 'headers')) ? numberIn(status) : status,
    read(layer, 'statusCode'),
    read(layer, 'status_code'),
    read(layer, 'httpStatus'),
    read(read(layer, '$metadata'), 'httpStatusCode'),
    numberIn(read(layer, 'code')),
  ].filter(isStatus);
}

function numberIn(status: unknown): unknown {
  return typeof status === 'string' && STATUS_TEXT.test(status) ? Number(status) : status;
}

/** All error codes and class names in the chain. */
export function wordsOf(chain: readonly unknown[]): Set<string> {
  const words = new Set<string>();
  const add = (word: unknown) => {
    if (typeof word === 'string' && word.length <= LONGEST_WORD) words.add(word);
  };
  for (const layer of chain) {
    for (const key of WORD_KEYS) add(read(layer, key));
    // SDKs leave `name` as "Error"; only the name of the class differs.
    add(read(read(layer, 'constructor'), 'name'));
  }
  return words;
}

/** The match of the first text that has one; empty if none has. */
export function matchIn(texts: readonly string[], pattern: RegExp): readonly string[] {
  for (const text of texts) {
    const match = pattern.exec(text);
    if (match !== null) return match;
  }
  return [];
}

/** Whether any text matches. */
export function isIn(texts: readonly string[], pattern: RegExp): boolean {
  return texts.some((text) => pattern.test(text));
}

/** All messages in the chain, nearest first. */
export function textsOf(thing: unknown, chain: readonly unknown[]): string[] {
  const texts: string[] = [];
  const add = (text: unknown) => {
    if (typeof text === 'string' && text.length > 0) texts.push(text.slice(0, LONGEST_TEXT));
  };
  add(thing);
  for (const layer of chain) for (const key of TEXT_KEYS) add(read(layer, key));
  return texts;
}
