import { utf8Bytes } from '../util/utf8.ts';
/**
 * Sizes of chat requests and of their messages: OpenAI chat and responses, Anthropic messages,
 * Google contents.
 */
import { jsonBytes } from './json.ts';
import { partMediaBytes } from './media.ts';
import { isList, isObject } from './traversal.ts';

/** Whether to count everything, or text without images and other media. */
type CountedContent = 'all' | 'text';

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
 * that is not a message (a bare text, the output of a function) counts as a part.
 */
export function messageBytes(message: unknown, counted: CountedContent): number {
  if (!isObject(message)) return partBytes(message, counted, 0);
  const { role, content, parts, tool_calls }: MessageFields = message;
  if (typeof role !== 'string') return partBytes(message, counted, 0);
  const bytes = contentBytes(content ?? parts, counted);
  return isList(tool_calls) ? bytes + jsonBytes(tool_calls) : bytes;
}

/**
 * The bytes of a text, a part, an object with `parts`, or a list of parts; null and undefined: 0.
 */
function contentBytes(content: unknown, counted: CountedContent, depth = 0): number {
  if (typeof content === 'string') return utf8Bytes(content);
  if (content === undefined || content === null) return 0;
  if (!isList(content)) return partBytes(content, counted, depth);
  let bytes = 0;
  for (const part of content) bytes += partBytes(part, counted, depth);
  return bytes;
}

/**
 * The bytes of one part: for text its text; for an image, audio or file its media; for the
 * result of a tool its content; for any other part, such as a tool call, its JSON.
 */
function partBytes(part: unknown, counted: CountedContent, depth: number): number {
  if (typeof part === 'string') return utf8Bytes(part);
  if (!isObject(part)) return jsonBytes(part);
  const { text, content, parts, output }: PartFields = part;
  if (typeof text === 'string') return utf8Bytes(text);
  const media = partMediaBytes(part);
  if (media !== undefined) return counted === 'all' ? media : 0;
  const inner = content ?? parts ?? output;
  if (depth < MAX_NESTING && (typeof inner === 'string' || isList(inner))) {
    return contentBytes(inner, counted, depth + 1);
  }
  return jsonBytes(part);
}

/** The depth of nesting that is read: messages hold results of tools, and these hold parts. */
const MAX_NESTING = 2;

/** The fields by which chat requests are known, of all providers together. */
export interface ChatFields extends PromptFields {
  readonly model?: unknown;
  readonly messages?: unknown;
  readonly input?: unknown;
  readonly contents?: unknown;
  readonly config?: unknown;
}

interface PromptFields {
  readonly system?: unknown;
  readonly instructions?: unknown;
  readonly systemInstruction?: unknown;
  readonly system_instruction?: unknown;
  readonly tools?: unknown;
  readonly functions?: unknown;
  readonly response_format?: unknown;
}

/**
 * Whether an object is a chat request: its `messages`, `input` or `contents` is a list that starts
 * with a message; if there is a `model`, any list or text counts. Fewer signs are not enough, as
 * other objects use the same names for other things.
 */
export function isChat(value: ChatFields): boolean {
  const turns = turnsOf(value);
  if (turns === undefined) return false;
  if (typeof value.model === 'string') return typeof turns === 'string' || isList(turns);
  if (!isList(turns) || !isObject(turns[0])) return false;
  const { parts }: { readonly parts?: unknown } = turns[0];
  return isMessage(turns[0]) || isList(parts);
}

/**
 * The bytes of a chat request that reach the model.
 *
 * Counted are the messages (`messages`, `input` or `contents`; see `messageBytes`), the system
 * prompt (`system`, `instructions`, `systemInstruction`), and the JSON of the fields that providers
 * write into the prompt (`tools`, `functions`, `response_format`). The same fields are counted in
 * the `config` of Google's client. Not counted: settings, such as the name of the model or a
 * temperature.
 *
 * @param counted `'all'`, or `'text'` to leave out images and other media
 */
export function chatBytes(body: ChatFields, counted: CountedContent): number {
  const { config } = body;
  let bytes = promptBytes(body, counted);
  if (isObject(config)) bytes += promptBytes(config, counted);
  const turns = turnsOf(body);
  if (!isList(turns)) return bytes + contentBytes(turns, counted);
  for (const turn of turns) bytes += messageBytes(turn, counted);
  return bytes;
}

function turnsOf({ messages, input, contents }: ChatFields): unknown {
  return messages ?? input ?? contents;
}

/** The fields beside the messages that also reach the model. */
function promptBytes(fields: PromptFields, counted: CountedContent): number {
  const { system, instructions, systemInstruction, system_instruction } = fields;
  const { tools, functions, response_format } = fields;
  return (
    contentBytes(system, counted) +
    contentBytes(instructions, counted) +
    contentBytes(systemInstruction ?? system_instruction, counted) +
    specBytes(tools) +
    specBytes(functions) +
    specBytes(response_format)
  );
}

function specBytes(spec: unknown): number {
  return isObject(spec) ? jsonBytes(spec) : 0;
}
