/** The prompts that clients send, and the requests that the provider sees. */
import type { Random } from 'headgate';
import { logNormal, type ModelRequest } from 'headgate/simulator';
import type { PromptSizes } from './scenario.ts';

/** A chat request, as users submit it. */
export interface Prompt {
  readonly model: string;
  readonly messages: readonly { readonly role: 'user'; readonly content: string }[];
  readonly max_tokens: number;
}

/** The bytes of a token, as estimators by bytes assume. */
const BYTES_PER_TOKEN = 4;
/** The largest prompt: a prompt must fit a minute's limit and the model's context window. */
const MOST_TOKENS = 32_000;

/** Draws prompts. The same random numbers give the same prompts. */
export function promptSource(sizes: PromptSizes, random: Random): () => Prompt {
  const input = logNormal({ meanMs: sizes.inputTokens, sigma: sizes.sigma });
  const output = logNormal({ meanMs: sizes.outputTokens, sigma: sizes.sigma });
  const tokens = (value: number) => Math.min(MOST_TOKENS, Math.max(1, Math.round(value)));
  return () => ({
    model: 'simulated',
    messages: [{ role: 'user', content: 'x'.repeat(tokens(input(random)) * BYTES_PER_TOKEN) }],
    max_tokens: tokens(output(random)),
  });
}

/** A prompt as a request to the simulated provider, whose tokens have four bytes. */
export function requestOf({ messages, max_tokens }: Prompt): ModelRequest {
  const bytes = messages.reduce((sum, { content }) => sum + content.length, 0);
  return { inputTokens: bytes / BYTES_PER_TOKEN, maxTokens: max_tokens, bytes };
}
