/** What clients are given to send, and what it is to the provider. */
import type { Random } from 'headgate';
import { logNormal, type ModelRequest } from 'headgate/simulator';
import type { PromptSizes } from './scenario.ts';

/** A chat request, as users hand them over. */
export interface Prompt {
  readonly model: string;
  readonly messages: readonly { readonly role: 'user'; readonly content: string }[];
  readonly max_tokens: number;
}

/** As estimators have it that count bytes. */
const BYTES_PER_TOKEN = 4;
/** No prompt is larger: it has to fit a minute's limit, and models have their windows. */
const MOST_TOKENS = 32_000;

/** Draws prompts. Two that are given the same chance draw the same. */
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

/** The same to the simulated provider, whose tokenizer finds four bytes in each token. */
export function requestOf({ messages, max_tokens }: Prompt): ModelRequest {
  const bytes = messages.reduce((sum, { content }) => sum + content.length, 0);
  return { inputTokens: bytes / BYTES_PER_TOKEN, maxTokens: max_tokens, bytes };
}
