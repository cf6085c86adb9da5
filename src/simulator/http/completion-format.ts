import type { ProviderAnswer } from '../provider-types.ts';

/** How an API words a completion. */
export interface CompletionFormat {
  whole(answer: ProviderAnswer): unknown;
  started(): void;
  word(word: string): void;
  ended(answer: ProviderAnswer): void;
  /** A word's event, whatever its data is. */
  event(data: unknown): void;
  /** An error in the middle of a stream. */
  failed(body: unknown): void;
}
