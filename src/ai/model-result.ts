import { usageOf } from '../providers/usage.ts';
import type { AttemptContext } from '../request/attempt-context.ts';

/** The tokens of an answer. */
interface Tokens {
  /** Input that was not read from a cache. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** What the provider's limit counts, unless its raw usage says so. */
  readonly limited: number;
}

/**
 * Records the usage of an answer: `tokens`, `inputTokens`, `cachedTokens` and `outputTokens`, for
 * limits with these names and for budgets.
 *
 * @param answer a whole result, or the last part of a stream
 */
export function recordUsage(context: AttemptContext, answer: object, provider: string): void {
  const usage = field(answer, 'usage');
  const tokens = tokensIn(usage, field(answer, 'providerMetadata'), provider);
  if (tokens === undefined) return;
  const { input, cached, output, limited } = tokens;
  context.record('inputTokens', input);
  context.record('cachedTokens', cached);
  context.record('outputTokens', output);
  // Providers differ in whether their limits count cached input: prefers the provider's raw usage.
  const raw = { usage: field(usage, 'raw') };
  if (usageOf(raw) === undefined) context.recordTokens(limited);
  else context.observe(raw);
}

/** Version 5 of the SDK gives numbers, later versions objects with a `total`. */
function tokensIn(usage: unknown, metadata: unknown, provider: string): Tokens | undefined {
  const input = field(usage, 'inputTokens');
  const output = field(usage, 'outputTokens');
  const bare = count(input);
  if (bare !== undefined) return tokensOfVersion5(bare, usage, metadata, provider);
  const inputTotal = count(field(input, 'total'));
  const outputTotal = count(output) ?? count(field(output, 'total'));
  if (inputTotal === undefined && outputTotal === undefined) return undefined;
  const cached = count(field(input, 'cacheRead')) ?? 0;
  const all = (inputTotal ?? 0) + (outputTotal ?? 0);
  return tokensFrom(inputTotal ?? 0, cached, outputTotal ?? 0, all);
}

/**
 * In version 5 Anthropic and Bedrock count input that was read from a cache or written to it beside
 * the input, and their limits do not count what was read. Google counts thinking only in the total.
 */
function tokensOfVersion5(
  bare: number,
  usage: unknown,
  metadata: unknown,
  provider: string,
): Tokens {
  const cached = count(field(usage, 'cachedInputTokens')) ?? 0;
  const total = count(field(usage, 'totalTokens')) ?? 0;
  const output = Math.max(count(field(usage, 'outputTokens')) ?? 0, total - bare);
  const [anthropic, bedrock] = [field(metadata, 'anthropic'), field(metadata, 'bedrock')];
  const isBeside = anthropic !== undefined || /anthropic|bedrock/.test(provider);
  if (!isBeside) return tokensFrom(bare, cached, output, bare + output);
  const written =
    count(field(anthropic, 'cacheCreationInputTokens')) ??
    count(field(field(bedrock, 'usage'), 'cacheWriteInputTokens')) ??
    0;
  const input = bare + written;
  return { input, cached, output, limited: input + output };
}

function tokensFrom(total: number, cached: number, output: number, limited: number): Tokens {
  return { input: Math.max(0, total - cached), cached, output, limited };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}

/** A property of an object; undefined for any other value. */
export function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

/** Parts that come before the answer. After them the call may still fail. */
const PREFACE: ReadonlySet<unknown> = new Set(['stream-start', 'response-metadata', 'raw']);

/** A stream of an answer's parts. */
export interface WatchedParts<Part> {
  /** All parts. The stream fails when the signal aborts, even if the model ignores the signal. */
  readonly parts: ReadableStream<Part>;
  /** The error of the last part of type `error`; undefined: there was none. */
  readonly failure: { readonly error: unknown } | undefined;
}

/**
 * Reads a stream as far as the first part of its answer.
 *
 * @param ended called with the last part of the answer, which has its usage
 * @returns rejects if the answer begins with an error
 */
export async function watchParts<Part>(
  stream: ReadableStream<Part>,
  signal: AbortSignal,
  ended: (finish: object) => void,
): Promise<WatchedParts<Part>> {
  const reader = stream.getReader();
  const stop = (reason: unknown) => void reader.cancel(reason).catch(() => undefined);
  let failure: { readonly error: unknown } | undefined;
  const look = (part: Part) => {
    const type = field(part, 'type');
    if (type === 'error') failure = { error: field(part, 'error') };
    if (type === 'finish') ended(part as object);
    return type;
  };

  const preface: Part[] = [];
  const abortedEarly = () => stop(signal.reason);
  signal.addEventListener('abort', abortedEarly, { once: true });
  // A model that ignores the signal may begin its answer after the abort.
  if (signal.aborted) abortedEarly();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      preface.push(value);
      if (!PREFACE.has(look(value))) break;
    }
  } finally {
    signal.removeEventListener('abort', abortedEarly);
  }
  if (failure !== undefined) {
    stop(failure.error);
    throw failure.error;
  }

  let abort = () => {};
  const over = () => signal.removeEventListener('abort', abort);
  const parts = new ReadableStream<Part>(
    {
      start: (controller) => {
        abort = () => {
          controller.error(signal.reason);
          stop(signal.reason);
        };
        signal.addEventListener('abort', abort, { once: true });
      },
      pull: async (controller) => {
        const first = preface.shift();
        if (first !== undefined) {
          controller.enqueue(first);
          return;
        }
        try {
          const { done, value } = await reader.read();
          if (signal.aborted) return;
          if (!done) {
            look(value);
            controller.enqueue(value);
            return;
          }
          over();
          controller.close();
        } catch (error) {
          over();
          controller.error(error);
        }
      },
      cancel: (reason) => {
        over();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return {
    parts,
    get failure() {
      return failure;
    },
  };
}
