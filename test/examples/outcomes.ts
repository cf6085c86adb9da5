import type { Outcome, RequestStats } from 'headgate';
import type { Prompt } from '../../examples/batch/prompts.ts';

const QUICK: RequestStats = { waits: {}, attempts: 1, bytes: 5, tokens: 2, durationMs: 100 };

const promptOf = (index: number): Prompt => ({
  id: `p${index}`,
  index,
  messages: [{ role: 'user', content: 'hello' }],
  maxTokens: undefined,
});

/** A request that went well. */
export function ok(index: number, stats: Partial<RequestStats> = {}): Outcome<Prompt, string> {
  return { status: 'ok', value: 'yes', request: promptOf(index), stats: { ...QUICK, ...stats } };
}

/** A request that failed for good. */
export function failed(index: number, error: unknown): Outcome<Prompt, string> {
  return { status: 'failed', error, request: promptOf(index), stats: QUICK };
}
