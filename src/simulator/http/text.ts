import type { Random } from '../../util/clock.ts';
import { logNormal, seededRandom } from '../random.ts';
import { isObject } from './request-body.ts';

/** English text has about this many bytes a token. */
const BYTES_PER_TOKEN = 4;

/** The tokens of a part without text: a small image in OpenAI's price list. */
const TOKENS_PER_OTHER_PART = 85;

const WORDS =
  'water runs from the weir through an open gate into a long channel where every field waits its turn'.split(
    ' ',
  );

/** How long answers are. */
export interface OutputOptions {
  /** Mean tokens of an answer before `max_tokens` cuts it. Default 64. */
  mean?: number;
  /** Standard deviation of the logarithm. Default 0.5. */
  sigma?: number;
}

/** The text of an answer. One word is one token. */
export interface ModelOutput {
  readonly words: readonly string[];
  /** Whether `max_tokens` cut the answer. */
  readonly cut: boolean;
}

/** Tokens of a text, or of the parts of a message. */
export function countTokens(content: unknown): number {
  if (typeof content === 'string') {
    return Math.ceil(Buffer.byteLength(content) / BYTES_PER_TOKEN);
  }
  if (Array.isArray(content)) return content.reduce((sum, part) => sum + countTokens(part), 0);
  if (!isObject(content)) return 0;
  const { text, content: inner } = content;
  if (text !== undefined) return countTokens(text);
  return inner === undefined ? TOKENS_PER_OTHER_PART : countTokens(inner);
}

/** Random numbers that depend only on a seed and a text, which FNV-1a hashes to 32 bits. */
export function randomFor(seed: number, text: string): Random {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return seededRandom((hash >>> 0) + (seed % 2 ** 21) * 2 ** 32);
}

/** The number of tokens of an answer. */
export function drawLength(random: Random, maxTokens: number, options: OutputOptions): number {
  const { mean = 64, sigma = 0.5 } = options;
  const wanted = Math.max(1, Math.round(logNormal({ meanMs: mean, sigma })(random)));
  return Math.min(wanted, maxTokens);
}

/** The answer to a prompt: the same for the same seed and prompt. */
export function writeOutput(
  seed: number,
  prompt: string,
  maxTokens: number,
  options: OutputOptions,
): ModelOutput {
  const random = randomFor(seed, prompt);
  const length = drawLength(random, maxTokens, options);
  const words = Array.from({ length }, (_, index) => {
    const word = WORDS[Math.floor(random() * WORDS.length)] ?? '';
    return index === 0 ? word : ` ${word}`;
  });
  return { words, cut: length === maxTokens };
}
