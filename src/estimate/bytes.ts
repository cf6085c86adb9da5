import { binaryBytes } from './binary.ts';
import { chatBytes } from './chat.ts';
import { messageBytes } from './chat-message.ts';
import { isList, isObject } from './guards.ts';
import { jsonBytes } from './json.ts';
import { kindOf } from './kind.ts';
import { sumItems } from './list.ts';
import {
  estimateChunkBytes,
  estimateDatumBytes,
  estimateModelInputBytes,
  tensorBytes,
} from './model-input.ts';

/**
 * The bytes that a request is charged as, by the shape of the value; a whole number >= 0.
 *
 * - a string: its UTF-8 bytes
 * - Buffer, ArrayBuffer, SharedArrayBuffer, typed array, DataView, Blob: the bytes that it holds
 * - model inputs, their chunks, tensors and training examples: as in seed 002, see
 *   `estimateModelInputBytes` and `estimateDatumBytes`
 * - chat requests and messages of OpenAI, Anthropic and Google: text and media, see `chatBytes`
 * - an array: the sum of its items, so that `[]` is 0 and `[1, 23]` is 3; brackets and commas do
 *   not count. An array that holds itself, at any depth: 0
 * - anything else: the UTF-8 bytes of its JSON; 0 for what has none, see `jsonBytes`
 *
 * Never throws: a value that throws when it is read counts 0. Encodes and copies nothing.
 */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (!isObject(value)) return jsonBytes(value);
  try {
    return isList(value) ? sumItems(value, estimateBytes) : objectBytes(value);
  } catch {
    return 0;
  }
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
