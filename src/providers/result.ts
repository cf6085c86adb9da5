import type { ReportedLimit, Verdict } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import { reportedLimits } from './classify.ts';
import { isList, isLiveStream, isResponse, isShape, isStatus, read } from './shape.ts';

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

/**
 * The headers of the response in a successful result: a `Response`, a result of axios, of
 * `withResponse()` of the OpenAI and Anthropic SDKs, or of the AI SDK.
 * @returns a `Headers` object or a record, for `reportedLimits`; undefined for other values
 */
export function headersOfResult(value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null || isLiveStream(value)) return undefined;
  const own = headersIn(value);
  return own ?? headersIn(read(value, 'response'));
}

function headersIn(value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const headers = read(value, 'headers');
  if (!isShape(headers) || isList(headers)) return undefined;
  return headers;
}

/** The provider's limits in the value of a successful answer; undefined if there are none. */
export function limitsOfResult(value: unknown): readonly ReportedLimit[] | undefined {
  return limitsIn(headersOfResult(value));
}

/** The same in any answer, or in headers themselves. */
export function limitsTold(answer: unknown): readonly ReportedLimit[] | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return limitsIn(headersOfResult(answer) ?? answer);
}

function limitsIn(headers: object | undefined): readonly ReportedLimit[] | undefined {
  if (headers === undefined) return undefined;
  const limits = reportedLimits(headers);
  return limits.length === 0 ? undefined : limits;
}

/** Fields that hold a result. A value that has one is no error, even if it has an `error` too. */
const RESULT_KEYS = [
  'choices',
  'content',
  'candidates',
  'output',
  'outputs',
  'data',
  'result',
  'results',
  'completion',
  'generations',
  'predictions',
  'embeddings',
  'text',
] as const;

/**
 * Finds the error in a body that came with status 200: `{"error": …}` without a result beside it.
 * @returns undefined for a value that is a result. Costs one property read where it has no `error`
 */
export function errorIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isResponse(value)) return undefined;
  const error = read(value, 'error');
  const isError = typeof error === 'object' ? error !== null : typeof error === 'string';
  if (!isError || error === '') return undefined;
  if (RESULT_KEYS.some((key) => read(value, key) !== undefined)) return undefined;
  // The status 200 says nothing about the error in the body.
  const status = read(value, 'status') ?? read(value, 'statusCode');
  return isStatus(status) && status < 400 ? error : value;
}

/**
 * Whether the verdict recognised the error in a body. An unrecognised one is left alone: `error` may
 * be an ordinary field of that API.
 */
export function isKnownError({ kind, retry, status, outage }: Verdict): boolean {
  if (kind === 'ok') return false;
  return kind !== 'failed' || retry !== false || status !== undefined || outage !== undefined;
}
