import { BYTES_PER_TOKEN } from '../model/sized.ts';
import { chatBytes, messageBytes } from './chat.ts';
import { jsonBytes } from './json.ts';
import { type Kind, kindOf } from './kind.ts';
import { binaryBytes } from './media.ts';
import {
  chunkTokens,
  estimateChunkBytes,
  estimateDataBytes,
  estimateDatumBytes,
  estimateModelInputBytes,
  modelInputOf,
  modelInputTokens,
  tensorBytes,
} from './model-input.ts';
import { isList, isObject, sumItems } from './traversal.ts';

/** Estimates sizes in bytes, of any value by its shape, or of a value of a known kind. */
export interface EstimateBytes {
  /**
   * The bytes that a request is charged for, by the shape of the value; a whole number >= 0.
   *
   * - a string: its UTF-8 bytes
   * - Buffer, ArrayBuffer, SharedArrayBuffer, typed array, DataView, Blob: the bytes that it holds
   * - model inputs, their chunks, tensors and training examples: 10 for each token and number, the
   *   bytes of images, as the methods below count them
   * - chat requests and messages of OpenAI, Anthropic and Google: the bytes of text and media
   * - an array: the sum of its items, so that `[]` is 0 and `[1, 23]` is 3; brackets and commas do
   *   not count. An array that holds itself, at any depth: 0
   * - anything else: the UTF-8 bytes of its JSON; 0 for a value without JSON
   *
   * Never throws: a value that throws when it is read counts 0. Encodes and copies nothing.
   */
  (value: unknown): number;

  /**
   * The bytes of one chunk of a model input; 0 for an unknown chunk, and for one that throws when
   * read.
   *
   * - `{type: 'image', data}`: the bytes of `data`; base64 text and data: URLs are decoded first
   * - `{type: 'image_asset_pointer', location}`: the UTF-8 bytes of `location`
   * - `{type: 'encoded_text', tokens}`, or with its tokens in `data`: 10 for each token
   * - any other chunk that has a numeric `length`: 10 for each of that many tokens
   *
   * A chunk without a `type` is recognised by its fields.
   */
  readonly chunk: (chunk: unknown) => number;

  /**
   * The sum over the `chunks` of a model input; 0 for anything without chunks, or that throws when
   * read.
   */
  readonly modelInput: (input: unknown) => number;

  /**
   * The bytes of one training example: its model input, and 10 for each number in the inputs of its
   * loss function. Reads `modelInput` and `lossFnInputs`, or `model_input` and `loss_fn_inputs`.
   * 0 for a value that throws when read.
   */
  readonly datum: (datum: unknown) => number;

  /**
   * The sum over a list of training examples, each as `datum` counts it; 0 for one that throws when
   * read.
   */
  readonly list: (data: unknown) => number;
}

/**
 * Estimates the size of a request in bytes, as operators and limiters do without an `estimate`.
 *
 * @example
 * estimateBytes('ü'); // 2
 * estimateBytes.modelInput({ chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] }); // 30
 * data.pipe(byteEstimate(estimateBytes.datum), chunkBy({ maxBytes: 5_000_000 }));
 */
export const estimateBytes: EstimateBytes = /* @__PURE__ */ Object.assign(bytesOf, {
  chunk: (chunk: unknown) => orZero(chunk, estimateChunkBytes),
  modelInput: (input: unknown) => orZero(input, estimateModelInputBytes),
  datum: (datum: unknown) => orZero(datum, estimateDatumBytes),
  list: (data: unknown) => orZero(data, estimateDataBytes),
});

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (!isObject(value)) return jsonBytes(value);
  return orZero(value, measureObject);
}

/** The estimated size; 0 for a value that throws when it is read. */
function orZero<V>(value: V, measure: (value: V) => number): number {
  try {
    return measure(value);
  } catch {
    return 0;
  }
}

function measureObject(value: object): number {
  return isList(value) ? sumItems(value, bytesOf) : objectBytes(value);
}

function objectBytes(value: object): number {
  const binary = binaryBytes(value);
  if (binary !== undefined) return binary;
  switch (kindOf(value)) {
    case 'chat':
      return chatBytes(value, 'all');
    case 'message':
      return messageBytes(value, 'all');
    case 'model-input':
      return estimateModelInputBytes(value);
    case 'datum':
      return estimateDatumBytes(value);
    case 'chunk':
      return estimateChunkBytes(value);
    case 'tensor':
      return tensorBytes(value);
    case 'other':
      return jsonBytes(value);
  }
}

/**
 * The tokens that a request is charged for, by the shape of the value; a whole number >= 0 for
 * `bytes` >= 0.
 *
 * - model inputs, their chunks and training examples: the tokens of their encoded text, exactly;
 *   images and tensors have none
 * - chat requests and messages: a quarter of the bytes of their text; images have none
 * - an array: the tokens of items of these kinds, and a quarter of the bytes of the others
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
