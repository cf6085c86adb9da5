import type { Ticket } from '../model/ticket.ts';
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

/** A larger number is not a count. */
const MOST_TOKENS = 1e12;

/** OpenAI's Responses API, Anthropic and Cohere; OpenAI's chat; the AI SDK and Bedrock; Google. */
const INPUT = ['input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokenCount'] as const;
const OUTPUT = ['output_tokens', 'completion_tokens', 'outputTokens'] as const;
const TOTAL = ['total_tokens', 'totalTokens', 'totalTokenCount', 'tokens'] as const;

/**
 * Fields of a result that may hold its usage: clients wrap the body (`data`, `response`), the first
 * event of an Anthropic stream has a `message`, the last one of a Bedrock stream `metadata`.
 */
const AROUND = ['data', 'response', 'message', 'metadata'] as const;

/**
 * The usage that a result reports: `usage` or `usageMetadata` (Google), on itself or on its `data`,
 * `response`, `message` or `metadata`.
 * @returns undefined if it reports none. Streams of the AI SDK are not read
 */
export function usageOf(value: unknown): Usage | undefined {
  const reported = reportedIn(value);
  if (reported === undefined) return undefined;
  const { input, output } = reported;
  return {
    tokens: tokensOf(reported),
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
  };
}

/** The usage that an attempt reports: in one value, or in several of a stream. */
export class ReportedUsage {
  #reported: Reported = {};
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
    usage.#record(ticket);
    return usage;
  }

  /** Records the tokens, and those of input, cache and output if these are priced. */
  #record(ticket: Ticket): void {
    this.#correct(ticket, 'tokens', tokensOf(this.#reported));
    if (!ticket.isPriced) return;
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
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = read(value, 'usage') ?? read(value, 'usageMetadata');
  if (!isShape(usage)) return undefined;
  // Cohere reports billed units beside tokens.
  const tokens = read(usage, 'tokens');
  return isShape(tokens) ? tokens : usage;
}

function counted(usage: object): Reported | undefined {
  const bare = first(usage, INPUT);
  const output = first(usage, OUTPUT) ?? googleOutput(usage);
  const total = first(usage, TOTAL);
  if (bare === undefined && output === undefined && total === undefined) return undefined;
  // Anthropic counts tokens written to its cache apart from the input. Cache reads have no limit.
  const written = count(usage, 'cache_creation_input_tokens') ?? 0;
  // OpenAI and Google include tokens read from a cache in the input, Anthropic does not.
  const details = read(usage, 'prompt_tokens_details') ?? read(usage, 'input_tokens_details');
  const within = count(details, 'cached_tokens') ?? count(usage, 'cachedContentTokenCount');
  const beside = count(usage, 'cache_read_input_tokens');
  return {
    ...(bare !== undefined && { input: bare + written }),
    ...(output !== undefined && { output }),
    ...(total !== undefined && { total }),
    ...(within !== undefined && { cachedWithin: within }),
    ...(beside !== undefined && { cachedBeside: beside }),
  };
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
 * one has, and output.
 */
function pricedTokens(reported: Reported): Readonly<Record<string, number>> {
  const { input = 0, output = 0, cachedWithin = 0, cachedBeside = 0 } = reported;
  return {
    inputTokens: Math.max(0, input - cachedWithin),
    cachedTokens: cachedWithin + cachedBeside,
    outputTokens: output,
  };
}

/** Google counts thinking separately from the candidates. */
function googleOutput(usage: object): number | undefined {
  const candidates = count(usage, 'candidatesTokenCount');
  const thoughts = count(usage, 'thoughtsTokenCount');
  if (candidates === undefined && thoughts === undefined) return undefined;
  return (candidates ?? 0) + (thoughts ?? 0);
}

/** The number in the first of several fields that has one. */
function first(usage: unknown, keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = count(usage, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function count(usage: unknown, key: string): number | undefined {
  const value = read(usage, key);
  return typeof value === 'number' && value >= 0 && value < MOST_TOKENS ? value : undefined;
}
