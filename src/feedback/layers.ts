import { isShape, isStatus, read, readList, readText } from './shape.ts';

/** What errors carry inside: responses, bodies, errors of an API, causes, details. */
const INNER = [
  'response',
  '$response',
  'data',
  'body',
  'error',
  'lastError',
  'cause',
  'details',
  'errorDetails',
  'statusDetails',
] as const;
/** Bodies that come as JSON texts. Google's SDK has the body in the message. */
const JSON_TEXTS = ['responseBody', 'body', 'data', 'error', 'message'] as const;
/** Names under which APIs say in a word what is wrong. */
const WORD_KEYS = [
  'code',
  'name',
  'type',
  'status',
  'reason',
  'error_code',
  'error_type',
  '__type',
  'error',
] as const;
const TEXT_KEYS = ['message', 'error', 'details', 'detail', 'Message'] as const;

/** How many objects are looked at in all: errors of SDKs nest three deep. */
const MOST_LAYERS = 24;
/** Of a list of details or errors. */
const MOST_OF_LIST = 8;
/** A body that is longer is no error of an API. */
export const LONGEST_JSON = 64 * 1024;
const LONGEST_WORD = 80;
/** Messages say what they have to say early on. */
const LONGEST_TEXT = 2_000;

/** The thing itself, then what it carries inside, nearest first. */
export function layersOf(thing: unknown, body?: string): unknown[] {
  const found: unknown[] = [];
  const add = (value: unknown) => {
    if (found.length < MOST_LAYERS && isShape(value) && !found.includes(value)) found.push(value);
  };
  add(typeof thing === 'string' ? parsed(thing) : thing);
  if (body !== undefined) add(parsed(body));
  // The list grows while it is gone through; circles end where it is full.
  for (const layer of found) {
    const before = found.length;
    for (const item of readList(layer, MOST_OF_LIST)) add(item);
    for (const key of INNER) add(read(layer, key));
    for (const key of JSON_TEXTS) {
      if (found.length === MOST_LAYERS) return found;
      // A message repeats the body where the body is there.
      if (key === 'message' && found.length > before) continue;
      const text = readText(layer, key);
      if (text !== undefined) add(parsed(text));
    }
  }
  return found;
}

/** Where the JSON of a text begins: some put the status before it. */
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

/** A status as a text: the LiteLLM proxy and others have it so in the `code` of a body. */
const STATUS_TEXT = /^[45]\d\d$/;

/**
 * The HTTP status, as fetch, axios, undici, the OpenAI, Anthropic, Google and AWS SDKs carry it: the
 * outermost.
 */
export function statusOf(layers: readonly unknown[]): number | undefined {
  for (const layer of layers) {
    const status = read(layer, 'status');
    if (isStatus(status)) return status;
    const statusCode = read(layer, 'statusCode');
    if (isStatus(statusCode)) return statusCode;
    const httpStatusCode = read(read(layer, '$metadata'), 'httpStatusCode');
    if (isStatus(httpStatusCode)) return httpStatusCode;
    const code = read(layer, 'code');
    if (isStatus(code)) return code;
    if (typeof code === 'string' && STATUS_TEXT.test(code)) return Number(code);
  }
  return undefined;
}

/** Every word by which a layer says what is wrong, and the names of classes. */
export function wordsOf(layers: readonly unknown[]): Set<string> {
  const words = new Set<string>();
  const add = (word: unknown) => {
    if (typeof word === 'string' && word.length <= LONGEST_WORD) words.add(word);
  };
  for (const layer of layers) {
    for (const key of WORD_KEYS) add(read(layer, key));
    // SDKs leave `name` at "Error" and tell their errors apart by class.
    add(read(read(layer, 'constructor'), 'name'));
  }
  return words;
}

/** Every message, nearest first. */
export function textsOf(thing: unknown, layers: readonly unknown[]): string[] {
  const texts: string[] = [];
  const add = (text: unknown) => {
    if (typeof text === 'string' && text.length > 0) texts.push(text.slice(0, LONGEST_TEXT));
  };
  add(thing);
  for (const layer of layers) for (const key of TEXT_KEYS) add(read(layer, key));
  return texts;
}
