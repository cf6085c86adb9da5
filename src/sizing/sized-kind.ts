import type { SizedKind } from '../model/sized-kind.ts';
import { binaryBytes } from './binary.ts';
import { isList, isObject } from './guards.ts';
import { kindOf } from './kind.ts';
import { type ChunkFields, chunkType, modelInputOf } from './model-input.ts';

/** How deep lists of lists are looked into. */
const DEEPEST = 4;

/**
 * What the size of a value was estimated from. A list is of the kind of its first item; a model input, or
 * a training example, of images where its first chunk is one. A value that throws when it is read is of
 * `json`.
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
