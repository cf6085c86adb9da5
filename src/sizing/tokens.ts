import { BYTES_PER_TOKEN } from '../model/sized.ts';
import { estimateBytes } from './bytes.ts';
import { chatBytes } from './chat.ts';
import { messageBytes } from './chat-message.ts';
import { isList, isObject } from './guards.ts';
import { type Kind, kindOf } from './kind.ts';
import { sumItems } from './list.ts';
import { chunkTokens, modelInputOf, modelInputTokens } from './model-input.ts';

/**
 * The tokens that a request is charged for, by the shape of the value; a whole number >= 0 for
 * `bytes` >= 0.
 *
 * - model inputs, their chunks and training examples: the tokens of their encoded text, exactly;
 *   images and tensors have none
 * - chat requests and messages: a quarter of the bytes of their text; images have none
 * - an array: what the above among its items have, and a quarter of the bytes of the others
 * - anything else: a quarter of `bytes`
 *
 * Quarters are rounded up, once per call. Never throws.
 *
 * @param bytes the size of the value, as `estimateBytes` or a custom estimator gave it
 */
export function estimateTokens(value: unknown, bytes: number): number {
  if (!isObject(value)) return tokensOfText(bytes);
  try {
    return isList(value) ? listTokens(value, bytes) : objectTokens(value, bytes);
  } catch {
    return tokensOfText(bytes);
  }
}

function tokensOfText(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

function objectTokens(value: object, bytes: number): number {
  const kind = kindOf(value);
  return encodedTokens(value, kind) ?? tokensOfText(chatText(value, kind) ?? bytes);
}

/** For a list without known inputs the given `bytes` are the size of its text. */
function listTokens(list: readonly unknown[], bytes: number): number {
  if (sumItems(list, knownItems) === 0) return tokensOfText(bytes);
  return sumItems(list, itemTokens) + tokensOfText(sumItems(list, itemText));
}

function knownItems(item: unknown): number {
  return isObject(item) && kindOf(item) !== 'other' ? 1 : 0;
}

function itemTokens(item: unknown): number {
  return isObject(item) ? (encodedTokens(item, kindOf(item)) ?? 0) : 0;
}

function itemText(item: unknown): number {
  if (!isObject(item)) return estimateBytes(item);
  const kind = kindOf(item);
  if (encodedTokens(item, kind) !== undefined) return 0;
  return chatText(item, kind) ?? estimateBytes(item);
}

/** The tokens of a value made of encoded text and images; undefined for any other kind. */
function encodedTokens(value: object, kind: Kind): number | undefined {
  switch (kind) {
    case 'model-input':
      return modelInputTokens(value);
    case 'datum':
      return modelInputTokens(modelInputOf(value));
    case 'chunk':
      return chunkTokens(value);
    case 'tensor':
      return 0;
    default:
      return undefined;
  }
}

/** The bytes of text in a chat request or message; undefined for any other kind. */
function chatText(value: object, kind: Kind): number | undefined {
  if (kind === 'chat') return chatBytes(value, 'text');
  return kind === 'message' ? messageBytes(value, 'text') : undefined;
}
