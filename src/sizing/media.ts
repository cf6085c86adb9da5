import { utf8Bytes } from '../util/utf8.ts';
import { types } from './native-types.ts';
import { isObject } from './traversal.ts';

/**
 * The number of bytes in a binary value: Buffer, typed array, DataView, ArrayBuffer,
 * SharedArrayBuffer, Blob and File. undefined for any other object. Nothing is read or copied.
 */
export function binaryBytes(value: object): number | undefined {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (Object.getPrototypeOf(value) === Object.prototype) return undefined;
  if (types.isAnyArrayBuffer(value)) return value.byteLength;
  return value instanceof Blob ? value.size : undefined;
}

/**
 * The decoded length of base64 text, without decoding it.
 *
 * Takes both alphabets (RFC 4648, sections 4 and 5), with or without padding, with line breaks and
 * blanks anywhere. As in Node's own decoder, padding ends the data, and a last character that
 * carries no whole byte adds none. Text that is not base64 is counted as if it were.
 *
 * @param start where the base64 begins in `text`
 */
export function base64Bytes(text: string, start = 0): number {
  const padding = text.indexOf('=', start);
  const end = padding < 0 ? text.length : padding;
  let characters = end - start;
  for (const blank of BLANKS) characters -= occurrences(text, blank, start, end);
  return Math.floor((characters * 3) / 4);
}

/** The whitespace of the WHATWG's forgiving-base64 decode. */
const BLANKS = ['\n', '\r', ' ', '\t', '\f'] as const;

/** Uses `indexOf`, which scans many characters at a time, unlike a loop. */
function occurrences(text: string, character: string, start: number, end: number): number {
  let count = 0;
  let at = text.indexOf(character, start);
  while (at >= 0 && at < end) {
    count++;
    at = text.indexOf(character, at + 1);
  }
  return count;
}

/**
 * The bytes of an image or file given by value: the decoded length of base64 text and data: URLs,
 * the length of binary values; 0 for anything else.
 */
export function mediaBytes(data: unknown): number {
  if (typeof data === 'string') return dataUrlBytes(data) ?? base64Bytes(data);
  return isObject(data) ? (binaryBytes(data) ?? 0) : 0;
}

/**
 * The bytes of an image given by URL: the decoded length of a data: URL, else the UTF-8 of the URL.
 */
export function urlBytes(url: string): number {
  return dataUrlBytes(url) ?? utf8Bytes(url);
}

/** The bytes that a data: URL (RFC 2397) carries; undefined for any other text. */
function dataUrlBytes(url: string): number | undefined {
  if (!DATA_SCHEME.test(url)) return undefined;
  const comma = url.indexOf(',');
  if (comma < 0) return undefined;
  if (BASE64_HEADER.test(url.slice(0, comma))) return base64Bytes(url, comma + 1);
  return utf8Bytes(url.slice(comma + 1)) - 2 * percentEscapes(url, comma + 1);
}

function percentEscapes(url: string, start: number): number {
  let count = 0;
  PERCENT_ESCAPE.lastIndex = start;
  while (PERCENT_ESCAPE.test(url)) count++;
  return count;
}

const DATA_SCHEME = /^data:/i;
const BASE64_HEADER = /;\s*base64\s*$/i;
const PERCENT_ESCAPE = /%[0-9a-f]{2}/gi;

/** Images, audio and files in chat messages. */

/** The fields in which providers put media into a part. */
interface MediaFields {
  readonly type?: unknown;
  readonly data?: unknown;
  /** OpenAI: `{url}` in chat, the URL itself in responses. */
  readonly image_url?: unknown;
  /** Anthropic: `{data}` or `{url}`. */
  readonly source?: unknown;
  /** Google: `{data}`. */
  readonly inlineData?: unknown;
  readonly inline_data?: unknown;
  /** Google: `{fileUri}`. */
  readonly fileData?: unknown;
  /** Google: `{file_uri}`; OpenAI: a data: URL. */
  readonly file_data?: unknown;
  /** OpenAI: `{data}`. */
  readonly input_audio?: unknown;
  /** OpenAI: `{file_data}`. */
  readonly file?: unknown;
}

/** The fields that describe the media. */
interface SourceFields {
  readonly type?: unknown;
  readonly data?: unknown;
  readonly url?: unknown;
  readonly fileUri?: unknown;
  readonly file_uri?: unknown;
  readonly file_data?: unknown;
}

/**
 * The bytes of the media in a part: the decoded length of base64 data and data: URLs, the UTF-8
 * length of other URLs; undefined for a part without media.
 */
export function partMediaBytes(part: MediaFields): number | undefined {
  if (isMedia(part.type) && part.data !== undefined) return dataBytes(part.data);
  const source =
    part.image_url ??
    part.source ??
    part.inlineData ??
    part.inline_data ??
    part.fileData ??
    part.file_data ??
    part.input_audio ??
    part.file;
  if (typeof source === 'string') return urlBytes(source);
  return isObject(source) ? sourceBytes(source) : undefined;
}

/** Parts with the media itself in `data`; those of type `file` are the Vercel AI SDK's. */
function isMedia(type: unknown): boolean {
  return type === 'image' || type === 'file';
}

function dataBytes(data: unknown): number {
  if (data instanceof URL) return urlBytes(data.href);
  // Version 7 of the AI SDK has an object with a type here.
  return (isObject(data) ? sourceBytes(data) : undefined) ?? mediaBytes(data);
}

function sourceBytes(source: SourceFields): number | undefined {
  const url = source.url ?? source.fileUri ?? source.file_uri ?? source.file_data;
  if (typeof url === 'string') return urlBytes(url);
  // Anthropic also puts the plain text of documents there.
  return source.data === undefined || source.type === 'text' ? undefined : mediaBytes(source.data);
}
