/** Sizes of single messages and their parts, in the forms of OpenAI, Anthropic and Google. */
import { partMediaBytes } from './chat-media.ts';
import { isList, isObject } from './guards.ts';
import { jsonBytes } from './json.ts';

/** Whether to count everything, or text without images and other media. */
export type CountedRequests = 'all' | 'text';

/** The fields by which messages are known, of all providers together. */
export interface MessageFields {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly parts?: unknown;
  readonly tool_calls?: unknown;
}

interface PartFields {
  readonly text?: unknown;
  readonly parts?: unknown;
  readonly content?: unknown;
  readonly output?: unknown;
}

/** Whether an object is a message: it has a `role` and `content`, `parts` or `tool_calls`. */
export function isMessage(value: MessageFields): boolean {
  const { role, content, parts, tool_calls } = value;
  if (typeof role !== 'string') return false;
  return typeof content === 'string' || isList(content) || isList(parts) || isList(tool_calls);
}

/**
 * The bytes of one message: its content or parts, and its tool calls as JSON. An item of a request
 * that is no message (a bare text, the output of a function) counts as a part.
 */
export function messageBytes(message: unknown, counted: CountedRequests): number {
  if (!isObject(message)) return partBytes(message, counted, 0);
  const { role, content, parts, tool_calls }: MessageFields = message;
  if (typeof role !== 'string') return partBytes(message, counted, 0);
  const bytes = contentBytes(content ?? parts, counted);
  return isList(tool_calls) ? bytes + jsonBytes(tool_calls) : bytes;
}

/** The bytes of a text, a part, an object with `parts`, or a list of parts; null and undefined: 0. */
export function contentBytes(content: unknown, counted: CountedRequests, depth = 0): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  if (content === undefined || content === null) return 0;
  if (!isList(content)) return partBytes(content, counted, depth);
  let bytes = 0;
  for (const part of content) bytes += partBytes(part, counted, depth);
  return bytes;
}

/**
 * The bytes of one part: of a text part its text, of an image, audio or file its media, of the
 * result of a tool its own content, and of any other part (a tool call, say) its JSON.
 */
function partBytes(part: unknown, counted: CountedRequests, depth: number): number {
  if (typeof part === 'string') return Buffer.byteLength(part);
  if (!isObject(part)) return jsonBytes(part);
  const { text, content, parts, output }: PartFields = part;
  if (typeof text === 'string') return Buffer.byteLength(text);
  const media = partMediaBytes(part);
  if (media !== undefined) return counted === 'all' ? media : 0;
  const inner = content ?? parts ?? output;
  if (depth < MAX_NESTING && (typeof inner === 'string' || isList(inner))) {
    return contentBytes(inner, counted, depth + 1);
  }
  return jsonBytes(part);
}

/** A message holds results of tools, which hold parts; no provider nests deeper. */
const MAX_NESTING = 2;
