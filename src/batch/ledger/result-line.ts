import { createReadStream } from 'node:fs';
import { LineError, readLines } from '../input/lines.ts';
import { at, countAt, isObject, type JsonObject, parseJson, textAt } from '../json.ts';

/** Of the `id` of each result: what a crash has left of the first line is known by it. */
export const RESULT_ID_PREFIX = 'batch_req_';

/** Tokens that a request used. */
export interface TokenUsage {
  /** All of the prompt, what was read from a cache included. */
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
}

/** One line of the output: OpenAI's batch result, and what headgate knows of it. */
export interface ResultLine {
  readonly id: string;
  readonly custom_id: string;
  /** Null: no answer came. */
  readonly response: {
    readonly status_code: number;
    readonly request_id: string | null;
    readonly body: unknown;
  } | null;
  /** Null: the request went well. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly metadata?: JsonObject;
  readonly headgate: {
    /** Calls to the API; 0: the answer came from the cache. */
    readonly attempts: number;
    readonly waited_ms: number;
    readonly duration_ms: number;
    readonly usage: TokenUsage | null;
    /** In the currency of the prices; null: there is no price. */
    readonly cost: number | null;
    /** Of the request's url and body. */
    readonly hash: string;
  };
}

/** What a line of the output says, as far as it has to be known. */
export interface ReadResult {
  readonly id: string;
  readonly isOk: boolean;
  readonly hash: string;
  readonly line: JsonObject;
}

/** @returns undefined for what is no line of results */
function readResultLine(text: string): ReadResult | undefined {
  const line = parseJson(text);
  if (!isObject(line)) return undefined;
  const id = textAt(line, 'custom_id');
  const hash = textAt(line, 'headgate', 'hash') ?? '';
  if (id === undefined || !('response' in line) || !('error' in line)) return undefined;
  if (!/^[0-9a-f]{7,}$/.test(hash)) return undefined;
  return { id, isOk: line.error === null, hash, line };
}

/** What a response says it used. Prompt tokens include what a cache answered for. */
export function usageIn(body: unknown): TokenUsage | null {
  const usage = at(body, 'usage');
  const input = countAt(usage, 'prompt_tokens') ?? countAt(usage, 'input_tokens');
  const output = countAt(usage, 'completion_tokens') ?? countAt(usage, 'output_tokens');
  if (input === undefined && output === undefined) return null;
  // Anthropic counts its cache beside the input tokens, OpenAI within them.
  const cacheRead = countAt(usage, 'cache_read_input_tokens');
  const written = countAt(usage, 'cache_creation_input_tokens') ?? 0;
  const within =
    countAt(usage, 'prompt_tokens_details', 'cached_tokens') ??
    countAt(usage, 'input_tokens_details', 'cached_tokens');
  const inputTokens = (input ?? 0) + (cacheRead ?? 0) + written;
  return {
    input_tokens: inputTokens,
    // An answer that says more would have a cost below 0, and lift the bound of a budget.
    cached_input_tokens: Math.min(within ?? cacheRead ?? 0, inputTokens),
    output_tokens: output ?? 0,
  };
}

/** A line of the output that is none of results. */
export class NoResultLineError extends Error {
  readonly line: number;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
  }
}

/** A line of results, and where the next one begins. */
export interface PlacedResult {
  readonly result: ReadResult;
  readonly number: number;
  readonly end: number;
  /** Whether its newline is missing: the line itself is whole. */
  readonly needsNewline: boolean;
}

/**
 * Reads the lines of an output. What a crash has left of the last line is passed over: only a line
 * without its newline may be that.
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
    throw new NoResultLineError(error.line, error.message);
  }
}
