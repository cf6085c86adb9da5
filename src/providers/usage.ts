import type { Ticket } from '../model/ticket.ts';
import { isLiveStream, isResponse, isShape, read } from './shape.ts';

/** The usage of a response, as the provider counts it. */
export interface Usage {
  /** Input and output. */
  readonly tokens: number;
  /** Without tokens read from a cache, where the provider reports these and does not limit them. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** A larger number is no count. */
const MOST_TOKENS = 1e12;

function count(usage: unknown, key: string): number | undefined {
  const value = read(usage, key);
  return typeof value === 'number' && value >= 0 && value < MOST_TOKENS ? value : undefined;
}

/** The number in the first of several fields that has one. */
function first(usage: unknown, keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = count(usage, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** OpenAI's Responses API, Anthropic and Cohere; OpenAI's chat; the AI SDK and Bedrock; Google. */
const INPUT = ['input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokenCount'] as const;
const OUTPUT = ['output_tokens', 'completion_tokens', 'outputTokens'] as const;
const TOTAL = ['total_tokens', 'totalTokens', 'totalTokenCount', 'tokens'] as const;

/**
 * The usage that a result reports: `usage` or `usageMetadata` (Google), on itself or on its `data`
 * or `response`.
 * @returns undefined if it reports none. Streams of the AI SDK are not read
 */
export function usageOf(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isResponse(value) || isLiveStream(value)) return undefined;
  const usage = usageIn(value) ?? usageIn(read(value, 'data')) ?? usageIn(read(value, 'response'));
  return usage === undefined ? undefined : counted(usage);
}

function usageIn(value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = read(value, 'usage') ?? read(value, 'usageMetadata');
  if (!isShape(usage)) return undefined;
  // Cohere reports billed units beside tokens.
  const tokens = read(usage, 'tokens');
  return isShape(tokens) ? tokens : usage;
}

function counted(usage: object): Usage | undefined {
  const input = first(usage, INPUT);
  const output = first(usage, OUTPUT) ?? googleOutput(usage);
  const total = first(usage, TOTAL);
  // Anthropic counts what it writes into its cache beside the input; reads from it are free of limits.
  const written = count(usage, 'cache_creation_input_tokens') ?? 0;
  const inputTokens = input === undefined ? undefined : input + written;
  if (inputTokens === undefined && output === undefined && total === undefined) return undefined;
  return {
    tokens: total ?? (inputTokens ?? 0) + (output ?? 0),
    ...(inputTokens !== undefined && { inputTokens }),
    ...(output !== undefined && { outputTokens: output }),
  };
}

/**
 * The tokens of an answer as providers price them, beside those that `usageOf` reads: input that no
 * cache has answered for, input that one has, and output.
 */
function pricedTokens(value: unknown): Readonly<Record<string, number>> | undefined {
  const usage = usageIn(value) ?? usageIn(read(value, 'data')) ?? usageIn(read(value, 'response'));
  if (usage === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0 } = counted(usage) ?? {};
  // OpenAI and Google count what a cache has answered for within the input, Anthropic beside it.
  const details = read(usage, 'prompt_tokens_details') ?? read(usage, 'input_tokens_details');
  const within = count(details, 'cached_tokens') ?? count(usage, 'cachedContentTokenCount') ?? 0;
  const beside = count(usage, 'cache_read_input_tokens') ?? 0;
  return {
    inputTokens: Math.max(0, inputTokens - within),
    cachedTokens: within + beside,
    outputTokens,
  };
}

/** Google counts thinking separately from the candidates. */
function googleOutput(usage: object): number | undefined {
  const candidates = count(usage, 'candidatesTokenCount');
  const thoughts = count(usage, 'thoughtsTokenCount');
  if (candidates === undefined && thoughts === undefined) return undefined;
  return (candidates ?? 0) + (thoughts ?? 0);
}

/**
 * Records the tokens that an answer says it has used, unless the user has recorded them; where they
 * are priced, input, cache and output too.
 */
export function readUsage(value: unknown, ticket: Ticket): void {
  if (ticket.usage?.tokens !== undefined) return;
  const usage = usageOf(value);
  if (usage === undefined) return;
  ticket.record('tokens', usage.tokens);
  if (!ticket.isPriced) return;
  // What a user has recorded counts, and is not added to.
  for (const [name, amount] of Object.entries(pricedTokens(value) ?? {})) {
    if (ticket.usage?.[name] === undefined) ticket.record(name, amount);
  }
}
