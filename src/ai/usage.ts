import { usageOf } from '../providers/result.ts';
import type { AttemptContext } from '../request/attempt-context.ts';

/** The tokens of an answer. */
interface Tokens {
  /** Input that no cache has answered for. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/**
 * Records what an answer has used: `tokens`, `inputTokens`, `cachedTokens` and `outputTokens`, for
 * limits with these names and for budgets.
 */
export function recordUsage(context: AttemptContext, usage: unknown): void {
  const tokens = tokensIn(usage);
  if (tokens === undefined) return;
  const { input, cached, output } = tokens;
  context.record('inputTokens', input);
  context.record('cachedTokens', cached);
  context.record('outputTokens', output);
  // Providers differ in whether their limits count what a cache has answered for.
  const raw = { usage: field(usage, 'raw') };
  if (usageOf(raw) === undefined) context.recordTokens(input + cached + output);
  else context.observe(raw);
}

/** Version 5 of the SDK gives numbers, later versions objects with a `total`. */
function tokensIn(usage: unknown): Tokens | undefined {
  const input = field(usage, 'inputTokens');
  const output = field(usage, 'outputTokens');
  const inputTotal = count(input) ?? count(field(input, 'total'));
  const outputTotal = count(output) ?? count(field(output, 'total'));
  if (inputTotal === undefined && outputTotal === undefined) return undefined;
  const cached = count(field(input, 'cacheRead')) ?? count(field(usage, 'cachedInputTokens')) ?? 0;
  return { input: Math.max(0, (inputTotal ?? 0) - cached), cached, output: outputTotal ?? 0 };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}

/** A property of an object; undefined for any other value. */
export function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
