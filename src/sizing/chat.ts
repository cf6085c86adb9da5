/** Sizes of chat requests: OpenAI chat and responses, Anthropic messages, Google contents. */
import { type CountedRequests, contentBytes, isMessage, messageBytes } from './chat-message.ts';
import { isList, isObject } from './guards.ts';
import { jsonBytes } from './json.ts';

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
 * with a message; beside a `model`, any list or a text will do. Nothing less, as other objects use
 * the same names for other things.
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
 * CountedRequests: the messages (`messages`, `input` or `contents`; see `messageBytes`), the system prompt
 * (`system`, `instructions`, `systemInstruction`), and as JSON what providers write into the prompt
 * themselves (`tools`, `functions`, `response_format`). The `config` that Google's client takes is
 * searched for the same. Not counted: settings, such as the name of the model or a temperature.
 *
 * @param counted `'all'`, or `'text'` to leave out images and other media
 */
export function chatBytes(body: ChatFields, counted: CountedRequests): number {
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
function promptBytes(fields: PromptFields, counted: CountedRequests): number {
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
