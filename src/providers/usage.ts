import type { Ticket } from '../model/ticket.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import { isAnyResponse, isLiveStream, isShape, read } from './shape.ts';

/** The usage of a response, as the provider counts it. */
export interface Usage {
  /** Input and output. */
  readonly tokens: number;
  /**
   * Input tokens, without tokens from a cache if the provider reports these and does not limit
   * them.
   */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** The usage in one value. Events of a stream may report input and output separately. */
interface Reported {
  readonly input?: number;
  readonly output?: number;
  readonly total?: number;
  /** Input that a cache has answered for: counted within the input, or beside it. */
  readonly cachedWithin?: number;
  readonly cachedBeside?: number;
}

/** Anthropic's first event of a stream. It counts the input, and one token of output or a few. */
const FIRST_EVENT = 'message_start';

/** A larger number is not a count. */
const MOST_TOKENS = 1e12;

/** Ollama's answers hold the counts themselves. */
const OLLAMA = ['prompt_eval_count', 'eval_count'] as const;

/**
 * OpenAI's Responses API, Anthropic and Cohere; OpenAI's chat; the AI SDK and Bedrock; the SDK of
 * Mistral; Ollama. Google counts what tools read, and thinking, separately.
 */
const INPUT = ['input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokens', OLLAMA[0]] as const;
const OUTPUT = [
  'output_tokens',
  'completion_tokens',
  'outputTokens',
  'completionTokens',
  OLLAMA[1],
] as const;
const GOOGLE_INPUT = ['promptTokenCount', 'toolUsePromptTokenCount'] as const;
const GOOGLE_OUTPUT = ['candidatesTokenCount', 'thoughtsTokenCount'] as const;
const TOTAL = ['total_tokens', 'totalTokens', 'totalTokenCount', 'tokens'] as const;

/** Input from a cache: counted within the input, or beside it; input written to a cache. */
const CACHED_WITHIN = ['cachedContentTokenCount', 'cachedInputTokens'] as const;
const CACHED_BESIDE = ['cache_read_input_tokens', 'cacheReadInputTokens'] as const;
const WRITTEN = ['cache_creation_input_tokens', 'cacheWriteInputTokens'] as const;
/** Fields of a usage that hold the counts of parts of its input. */
const DETAILS = ['prompt_tokens_details', 'input_tokens_details', 'inputTokenDetails'] as const;

/** Fields that hold a usage. The AI SDK has that of all steps beside that of the last one. */
const USAGE = ['totalUsage', 'usage', 'usageMetadata'] as const;

/**
 * Fields of a result that may hold its usage: clients wrap the body (`data`, `body`, `response`), the
 * first event of an Anthropic stream has a `message`, the last one of a stream `metadata` (Bedrock),
 * `delta` (Cohere) or `x_groq`.
 */
const AROUND = ['data', 'body', 'response', 'message', 'metadata', 'delta', 'x_groq'] as const;

/**
 * The usage that a result reports: `usage`, `totalUsage` (the AI SDK), `usageMetadata` (Google), the
 * `meta` of Cohere or the counts of Ollama; on itself or on its `data`, `body`, `response`,
 * `message`, `metadata`, `delta` or `x_groq`.
 * @returns undefined if it reports none. Streams of the AI SDK are not read
 */
export function usageOf(value: unknown): Usage | undefined {
  const reported = reportedIn(value);
  if (reported === undefined) return undefined;
  const { input: inputTokens, output: outputTokens } = reported;
  return withoutUndefined({ tokens: tokensOf(reported), inputTokens, outputTokens });
}

/** The usage that an attempt reports: in one value, or in several of a stream. */
export class ReportedUsage {
  #reported: Reported = {};
  /** Whether nothing after the first event of a stream has reported any. */
  #isBegun = false;
  /** The recorded amounts by limit. */
  readonly #recorded: Record<string, number> = {};

  /**
   * Reads the usage of a value. Later values of a stream correct what earlier ones have said.
   * @returns undefined where neither it nor a value before it reports any, or the user has recorded
   *   tokens
   */
  static read(
    value: unknown,
    before: ReportedUsage | undefined,
    ticket: Ticket,
  ): ReportedUsage | undefined {
    if (before === undefined && ticket.usage?.tokens !== undefined) return undefined;
    const reported = reportedIn(value);
    if (reported === undefined) return before;
    const usage = before ?? new ReportedUsage();
    usage.#reported = together(usage.#reported, reported);
    usage.#isBegun = read(value, 'type') === FIRST_EVENT;
    usage.#record(ticket);
    return usage;
  }

  /**
   * Records the tokens, and those of input, cache and output if these are priced. A stream that ends
   * after its first event has used an unknown number: at the least what it was expected to use.
   */
  #record(ticket: Ticket): void {
    const tokens = tokensOf(this.#reported);
    this.#correct(ticket, 'tokens', this.#isBegun ? Math.max(tokens, ticket.tokens) : tokens);
    if (!ticket.needsParts) return;
    for (const [name, amount] of Object.entries(pricedTokens(this.#reported))) {
      this.#correct(ticket, name, amount);
    }
  }

  /** Amounts recorded by the user take precedence: nothing is added to them. */
  #correct(ticket: Ticket, name: string, amount: number): void {
    const recorded = this.#recorded[name];
    if (recorded === undefined && ticket.usage?.[name] !== undefined) return;
    this.#recorded[name] = amount;
    const change = amount - (recorded ?? 0);
    if (change !== 0 || recorded === undefined) ticket.record(name, change);
  }
}

function reportedIn(value: unknown): Reported | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isAnyResponse(value) || isLiveStream(value)) return undefined;
  let usage = usageIn(value);
  for (const key of AROUND) usage ??= usageIn(read(value, key));
  return usage === undefined ? undefined : counted(usage);
}

function usageIn(value: unknown): object | undefined {
  const usage = firstOf(value, USAGE);
  if (isShape(usage)) return ofCohere(usage) ?? usage;
  if (first(value, OLLAMA) !== undefined) return value as object;
  return ofCohere(read(value, 'meta'));
}

/** Cohere reports tokens, or billed units, or both: in a `usage`, or for embeddings in a `meta`. */
function ofCohere(usage: unknown): object | undefined {
  const tokens = firstOf(usage, ['tokens', 'billed_units', 'billedUnits']);
  return isShape(tokens) ? tokens : undefined;
}

function counted(usage: object): Reported | undefined {
  const bare = first(usage, INPUT) ?? sum(usage, GOOGLE_INPUT);
  const output = first(usage, OUTPUT) ?? sum(usage, GOOGLE_OUTPUT);
  const total = first(usage, TOTAL);
  if (bare === undefined && output === undefined && total === undefined) return undefined;
  // Anthropic and Bedrock count tokens written to a cache apart from the input. Cache reads have no
  // limit.
  const written = first(usage, WRITTEN) ?? 0;
  // OpenAI and Google include tokens read from a cache in the input, Anthropic does not.
  const details = firstOf(usage, DETAILS);
  const cachedWithin =
    first(details, ['cached_tokens', 'cacheReadTokens']) ?? first(usage, CACHED_WITHIN);
  const cachedBeside = first(usage, CACHED_BESIDE);
  const input = bare === undefined ? undefined : bare + written;
  return withoutUndefined({ input, output, total, cachedWithin, cachedBeside });
}

/**
 * Each event of a stream counts the whole stream so far. A total belongs to the event that has it.
 */
function together({ total: _, ...before }: Reported, reported: Reported): Reported {
  return { ...before, ...reported };
}

function tokensOf({ input = 0, output = 0, total }: Reported): number {
  return total ?? input + output;
}

/**
 * The tokens of an answer as providers price them: input that no cache has answered for, input that
 * one has, and output. A total alone, as of embeddings, is input.
 */
function pricedTokens(reported: Reported): Readonly<Record<string, number>> {
  const { output = 0, total = 0, cachedWithin = 0, cachedBeside = 0 } = reported;
  const { input = Math.max(0, total - output) } = reported;
  return {
    inputTokens: Math.max(0, input - cachedWithin),
    cachedTokens: cachedWithin + cachedBeside,
    outputTokens: output,
  };
}

/** The sum of the fields that have a number; undefined if none has. */
function sum(usage: object, keys: readonly string[]): number | undefined {
  const counts = keys.flatMap((key) => count(usage, key) ?? []);
  return counts.length === 0 ? undefined : counts.reduce((all, one) => all + one);
}

/** The first of several fields that has a value. */
function firstOf(value: unknown, keys: readonly string[]): unknown {
  for (const key of keys) {
    const found = read(value, key);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

/** The number in the first of several fields that has one. */
function first(usage: unknown, keys: readonly string[]): number | undefined {
  return keys.map((key) => count(usage, key)).find((value) => value !== undefined);
}

function count(usage: unknown, key: string): number | undefined {
  const value = read(usage, key);
  return typeof value === 'number' && value >= 0 && value < MOST_TOKENS ? value : undefined;
}
