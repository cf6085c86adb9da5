import { BYTES_PER_TOKEN } from '../model/sized.ts';
import { utf8Bytes } from '../util/utf8.ts';
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
  if (typeof value === 'string') return utf8Bytes(value);
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
  return binaryBytes(value) ?? MEASURES[kindOf(value)].bytes(value);
}

/** How values of one kind are measured. */
interface Measures {
  readonly bytes: (value: object) => number;
  /** The tokens of encoded text. Default: they are estimated. */
  readonly tokens?: (value: object) => number;
  /** The bytes of text, from which the tokens are estimated. Default: all bytes. */
  readonly text?: (value: object) => number;
}

const MEASURES: Readonly<Record<Kind, Measures>> = {
  chat: { bytes: (body) => chatBytes(body, 'all'), text: (body) => chatBytes(body, 'text') },
  message: {
    bytes: (message) => messageBytes(message, 'all'),
    text: (message) => messageBytes(message, 'text'),
  },
  'model-input': { bytes: estimateModelInputBytes, tokens: modelInputTokens },
  datum: { bytes: estimateDatumBytes, tokens: (datum) => modelInputTokens(modelInputOf(datum)) },
  chunk: { bytes: estimateChunkBytes, tokens: chunkTokens },
  tensor: { bytes: tensorBytes, tokens: () => 0 },
  other: { bytes: jsonBytes },
};

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
  const { tokens, text } = MEASURES[kindOf(value)];
  return tokens?.(value) ?? tokensOfText(text?.(value) ?? bytes);
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
  return isObject(item) ? (MEASURES[kindOf(item)].tokens?.(item) ?? 0) : 0;
}

function itemText(item: unknown): number {
  if (!isObject(item)) return estimateBytes(item);
  const { tokens, text = estimateBytes } = MEASURES[kindOf(item)];
  return tokens === undefined ? text(item) : 0;
}
