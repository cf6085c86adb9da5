import { createReadStream } from 'node:fs';
import { LineError, readLines } from '../input/lines.ts';
import { at, countAt, isObject, type JsonObject, parseJson, textAt } from '../json.ts';

/** Prefix of the `id` of each result. It identifies an incomplete first line, left by a crash. */
export const RESULT_ID_PREFIX = 'batch_req_';

/** Tokens that a request used. */
export interface TokenUsage {
  /** All tokens of the prompt, including those read from a cache. */
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
}

/** One line of the output: a result in OpenAI's batch format, with the field `headgate`. */
export interface ResultLine {
  readonly id: string;
  readonly custom_id: string;
  /** Null: no answer came. */
  readonly response: {
    readonly status_code: number;
    readonly request_id: string | null;
    readonly body: unknown;
  } | null;
  /** Null: the request succeeded. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly metadata?: JsonObject;
  readonly headgate: {
    /** Calls to the API; 0: the answer came from the cache. */
    readonly attempts: number;
    readonly waited_ms: number;
    readonly duration_ms: number;
    readonly usage: TokenUsage | null;
    /** The cost in the currency of the prices; null: there is no price. */
    readonly cost: number | null;
    /** Hash of the request's url and body. */
    readonly hash: string;
  };
}

/** A line that was read from the output. */
export interface ReadResult {
  readonly id: string;
  readonly isOk: boolean;
  readonly hash: string;
  readonly line: JsonObject;
}

/** @returns undefined if the text is not a line of results */
function readResultLine(text: string): ReadResult | undefined {
  const line = parseJson(text);
  if (!isObject(line)) return undefined;
  const id = textAt(line, 'custom_id');
  const hash = textAt(line, 'headgate', 'hash') ?? '';
  if (id === undefined || !('response' in line) || !('error' in line)) return undefined;
  if (!/^[0-9a-f]{7,}$/.test(hash)) return undefined;
  return { id, isOk: line.error === null, hash, line };
}

/** The most tokens that an answer is believed to have used, as in the limiter: sums stay finite. */
const MOST_TOKENS = 1e12;

function tokensAt(usage: unknown, ...path: readonly string[]): number | undefined {
  const count = countAt(usage, ...path);
  return count !== undefined && count <= MOST_TOKENS ? count : undefined;
}

/** The usage in a response. Prompt tokens include those read from a cache or written to it. */
export function usageIn(body: unknown): TokenUsage | null {
  const usage = at(body, 'usage');
  const input = tokensAt(usage, 'prompt_tokens') ?? tokensAt(usage, 'input_tokens');
  const output = tokensAt(usage, 'completion_tokens') ?? tokensAt(usage, 'output_tokens');
  if (input === undefined && output === undefined) return null;
  // The input tokens of Anthropic exclude those of its cache; those of OpenAI include them.
  const cacheRead = tokensAt(usage, 'cache_read_input_tokens');
  const written = tokensAt(usage, 'cache_creation_input_tokens') ?? 0;
  const within =
    tokensAt(usage, 'prompt_tokens_details', 'cached_tokens') ??
    tokensAt(usage, 'input_tokens_details', 'cached_tokens');
  const inputTokens = (input ?? 0) + (cacheRead ?? 0) + written;
  return {
    input_tokens: inputTokens,
    // With more cached than input tokens the cost could be below 0, and raise the budget.
    cached_input_tokens: Math.min(within ?? cacheRead ?? 0, inputTokens),
    output_tokens: output ?? 0,
  };
}

/** A line of the output that is not a result. */
export class NoResultLineError extends Error {
  readonly line: number;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
  }
}

/** A line of results, its number, and the byte at which the next line begins. */
export interface PlacedResult {
  readonly result: ReadResult;
  readonly number: number;
  readonly end: number;
  /** Whether its newline is missing: the line itself is whole. */
  readonly needsNewline: boolean;
}

/**
 * Reads the lines of an output. It skips a last line that a crash has left incomplete: only a line
 * without a newline can be one.
 * @throws NoResultLineError
 */
export async function* readResults(file: string): AsyncGenerator<PlacedResult> {
  try {
    for await (const { text, number, end, isWhole } of readLines(createReadStream(file))) {
      if (isWhole && text.trim() === '') continue;
      const result = readResultLine(text);
      if (result !== undefined) yield { result, number, end, needsNewline: !isWhole };
      else if (isWhole) throw new NoResultLineError(number, 'this is no line of results');
    }
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    // A crash may cut a line within a character.
    if (!error.isWhole) return;
    throw new NoResultLineError(error.line, error.message);
  }
}
