import { utf8Bytes } from '../util/utf8.ts';
/**
 * Inputs of sampling and training APIs that take tokens and images rather than text, and their
 * sizes.
 */
import { mediaBytes } from './media.ts';
import { isList, isObject, sumItems } from './traversal.ts';

/** Text that is already tokens, in `tokens` or in `data`. */
export type EncodedTextChunk = { readonly type: 'encoded_text' } & (
  | { readonly tokens: ArrayLike<number> }
  | { readonly data: ArrayLike<number> }
);

/** An image by value: raw bytes, or base64 text of them. */
export interface ImageChunk {
  readonly type: 'image';
  readonly data: string | ArrayBuffer | ArrayBufferView;
  /** The image format, such as `png`. */
  readonly format?: string;
}

/** An image by reference. */
export interface ImageAssetPointerChunk {
  readonly type: 'image_asset_pointer';
  readonly location: string;
  readonly format?: string;
}

export type ModelInputChunk = EncodedTextChunk | ImageChunk | ImageAssetPointerChunk;

/** The input of sampling or training: text and images in order. */
export interface ModelInput {
  readonly chunks: readonly ModelInputChunk[];
}

/** Typed numbers, the input of loss functions. */
export interface TensorData {
  readonly data: ArrayLike<number>;
  readonly dtype?: string;
  readonly shape?: readonly number[];
}

/** One training example: a model input and the named inputs of its loss function. */
export interface Datum {
  readonly modelInput: ModelInput;
  readonly lossFnInputs: Readonly<Record<string, TensorData | ArrayLike<number>>>;
}

/** The bytes charged for a token of encoded text; it covers the serialised form of the token. */
const BYTES_PER_ENCODED_TOKEN = 10;

/** The bytes charged for a number of a tensor, in its serialised form. */
const BYTES_PER_ELEMENT = 10;

/**
 * The bytes of one chunk of a model input.
 *
 * - `image`: the bytes of its `data`; base64 text and data: URLs are decoded first
 * - `image_asset_pointer`: the UTF-8 bytes of its `location`
 * - `encoded_text`: 10 for each of its `tokens`, or of its `data`, or 10 times its `length`
 * - any other chunk that has a numeric `length`: that many tokens; without one: 0
 *
 * A chunk without a `type` is recognised by its field: `tokens`, `location` or `data`, which is an
 * image unless it is an array of tokens.
 */
export function estimateChunkBytes(chunk: unknown): number {
  if (!isObject(chunk)) return 0;
  const { data, location }: ChunkFields = chunk;
  switch (chunkType(chunk)) {
    case 'image':
      return mediaBytes(data);
    case 'image_asset_pointer':
      return typeof location === 'string' ? utf8Bytes(location) : 0;
    default:
      return chunkTokens(chunk) * BYTES_PER_ENCODED_TOKEN;
  }
}

/** The sum over the `chunks` of a model input; 0 for anything without chunks. */
export function estimateModelInputBytes(input: unknown): number {
  return sumChunks(input, estimateChunkBytes);
}

/** The tokens of all encoded text in a model input, exactly; images have none. */
export function modelInputTokens(input: unknown): number {
  return sumChunks(input, chunkTokens);
}

/** The tokens of one chunk, if it is encoded text or of an unknown kind with a `length`. */
export function chunkTokens(chunk: unknown): number {
  if (!isObject(chunk)) return 0;
  const type = chunkType(chunk);
  if (type === undefined) return countOf(chunk);
  const { tokens, data }: ChunkFields = chunk;
  return type === 'encoded_text' ? countOf(tokens ?? data ?? chunk) : 0;
}

/**
 * 10 for each number in the inputs of a loss function, which may be tensors (`{data}`), arrays,
 * nested arrays and typed arrays; an input of another kind: 0.
 *
 * @param inputs an object of inputs by name
 */
export function estimateLossFnInputsBytes(inputs: unknown): number {
  if (!isObject(inputs)) return 0;
  const named: readonly unknown[] = Object.values(inputs);
  let bytes = 0;
  for (const input of named) bytes += tensorBytes(input);
  return bytes;
}

/** 10 for each number in one tensor: `{data}`, an array, a nested array or a typed array. */
export function tensorBytes(tensor: unknown): number {
  if (!isObject(tensor)) return 0;
  const { data = tensor }: { readonly data?: unknown } = tensor;
  const nested = isList(data) && isObject(data[0]);
  return (nested ? sumItems(data, elementsOf) : countOf(data)) * BYTES_PER_ELEMENT;
}

/** The numbers in an item: the length of a typed array, or 1 for a single number. */
function elementsOf(item: unknown): number {
  return isObject(item) ? countOf(item) : 1;
}

/** The `length` of an array, a typed array or another value with a usable one; else 0. */
function countOf(value: unknown): number {
  if (!isObject(value)) return 0;
  const { length }: { readonly length?: unknown } = value;
  return typeof length === 'number' && Number.isSafeInteger(length) ? Math.max(0, length) : 0;
}

/**
 * The bytes of one training example: its model input and its loss-function inputs.
 * Reads `modelInput` and `lossFnInputs`, or `model_input` and `loss_fn_inputs` as on the wire.
 */
export function estimateDatumBytes(datum: unknown): number {
  if (!isObject(datum)) return 0;
  const { lossFnInputs, loss_fn_inputs }: DatumFields = datum;
  return (
    estimateModelInputBytes(modelInputOf(datum)) +
    estimateLossFnInputsBytes(lossFnInputs ?? loss_fn_inputs)
  );
}

/** The sum over a list of training examples; 0 for an empty list. */
export function estimateDataBytes(data: unknown): number {
  return isList(data) ? sumItems(data, estimateDatumBytes) : 0;
}

/** The model input of a training example. */
export function modelInputOf(datum: DatumFields): unknown {
  return datum.modelInput ?? datum.model_input;
}

export interface DatumFields {
  readonly modelInput?: unknown;
  readonly model_input?: unknown;
  readonly lossFnInputs?: unknown;
  readonly loss_fn_inputs?: unknown;
}

export interface ModelInputFields {
  readonly chunks?: unknown;
}

export interface ChunkFields {
  readonly type?: unknown;
  readonly tokens?: unknown;
  readonly data?: unknown;
  readonly location?: unknown;
  readonly length?: unknown;
}

/** The kind of a chunk: by its `type`, or else by its fields. */
export function chunkType(
  chunk: ChunkFields,
): 'encoded_text' | 'image' | 'image_asset_pointer' | undefined {
  const { type } = chunk;
  if (type === 'encoded_text' || type === 'image' || type === 'image_asset_pointer') return type;
  if (type !== undefined) return undefined;
  if (chunk.tokens !== undefined) return 'encoded_text';
  if (chunk.location !== undefined) return 'image_asset_pointer';
  if (isList(chunk.data)) return 'encoded_text';
  return chunk.data === undefined ? undefined : 'image';
}

function sumChunks(input: unknown, measure: (chunk: unknown) => number): number {
  if (!isObject(input)) return 0;
  const { chunks }: ModelInputFields = input;
  if (!isList(chunks)) return 0;
  let sum = 0;
  for (const chunk of chunks) sum += measure(chunk);
  return sum;
}
