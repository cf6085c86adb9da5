import type { SizedKind } from '../model/sized.ts';
import { type ChatFields, isChat, isMessage, type MessageFields } from './chat.ts';
import { binaryBytes } from './media.ts';
import {
  type ChunkFields,
  chunkType,
  type DatumFields,
  type ModelInputFields,
  modelInputOf,
} from './model-input.ts';
import { isList, isObject } from './traversal.ts';

/** The kinds of values that are recognised. */
export type Kind = 'model-input' | 'datum' | 'chunk' | 'tensor' | 'chat' | 'message' | 'other';

interface KnownFields
  extends ChunkFields,
    ModelInputFields,
    DatumFields,
    ChatFields,
    MessageFields {
  readonly dtype?: unknown;
}

/**
 * Recognises the inputs of model APIs by their fields, since most come as plain objects.
 *
 * Each must show enough fields to exclude chance, because a wrong guess counts too little:
 * - a model input is empty, has a chunk of a known kind, or has nothing but chunks without content
 * - a chunk on its own has its `type` and the field that goes with it, or `tokens` and nothing else
 * - a tensor has a `dtype`
 */
export function kindOf(value: KnownFields): Kind {
  if (isChat(value)) return 'chat';
  if (isMessage(value)) return 'message';
  if (isModelInput(value)) return 'model-input';
  const modelInput = modelInputOf(value);
  if (isObject(modelInput) && hasChunks(modelInput)) return 'datum';
  if (isTypedChunk(value) || isTokens(value)) return 'chunk';
  return typeof value.dtype === 'string' && isObject(value.data) ? 'tensor' : 'other';
}

function isModelInput({ chunks }: ModelInputFields): boolean {
  return isList(chunks) && (chunks.some(isKnownChunk) || chunks.every(isBareChunk));
}

function hasChunks({ chunks }: ModelInputFields): boolean {
  return isList(chunks);
}

function isTypedChunk({ type, tokens, data, location }: ChunkFields): boolean {
  switch (type) {
    case 'encoded_text':
      return tokens !== undefined || isNumbers(data);
    case 'image':
      return data !== undefined;
    case 'image_asset_pointer':
      return location !== undefined;
    default:
      return false;
  }
}

/** Tokens without a `type`. */
function isTokens(value: KnownFields): boolean {
  return value.type === undefined && isNumbers(value.tokens) && Object.keys(value).length === 1;
}

function isNumbers(value: unknown): boolean {
  return isList(value) ? typeof value[0] === 'number' : ArrayBuffer.isView(value);
}

/** A chunk of an unknown kind that gives its number of tokens. */
function isKnownChunk(chunk: unknown): boolean {
  if (!isObject(chunk)) return false;
  const { type, length }: ChunkFields = chunk;
  const hasLength = typeof type === 'string' && typeof length === 'number';
  return hasLength || chunkType(chunk) !== undefined;
}

/** Whether no field could hold text or media, which must not be counted as 0. */
function isBareChunk(chunk: unknown): boolean {
  if (!isObject(chunk) || isList(chunk)) return false;
  return Object.entries(chunk).every(
    ([key, value]) => key === 'type' || (typeof value !== 'string' && !isObject(value)),
  );
}

/** The depth to which lists of lists are searched. */
const DEEPEST = 4;

/**
 * The kind of value from which a size was estimated. A list has the kind of its first item. A model
 * input or training example has the kind `image` if its first chunk is an image. A value that
 * throws when it is read has the kind `json`.
 */
export function sizedKindOf(value: unknown, deepest = DEEPEST): SizedKind {
  try {
    if (typeof value === 'string') return 'text';
    if (!isObject(value)) return 'json';
    if (isList(value)) return deepest === 0 ? 'json' : sizedKindOf(value[0], deepest - 1);
    return binaryBytes(value) === undefined ? objectKindOf(value) : 'binary';
  } catch {
    return 'json';
  }
}

function objectKindOf(value: object): SizedKind {
  switch (kindOf(value)) {
    case 'chat':
    case 'message':
      return 'chat';
    case 'model-input':
      return inputKindOf(value);
    case 'datum':
      return inputKindOf(modelInputOf(value));
    case 'chunk':
      return chunkKindOf(value);
    case 'tensor':
      return 'tensor';
    case 'other':
      return 'json';
  }
}

function inputKindOf(input: unknown): SizedKind {
  const { chunks }: { readonly chunks?: unknown } = isObject(input) ? input : {};
  return isList(chunks) ? chunkKindOf(chunks[0]) : 'tokens';
}

function chunkKindOf(chunk: unknown): SizedKind {
  const type = isObject(chunk) ? chunkType(chunk as ChunkFields) : undefined;
  return type === 'image' || type === 'image_asset_pointer' ? 'image' : 'tokens';
}
