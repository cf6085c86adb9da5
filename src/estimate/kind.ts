import { type ChatFields, isChat } from './chat.ts';
import { isMessage, type MessageFields } from './chat-message.ts';
import { isList, isObject } from './guards.ts';
import {
  type ChunkFields,
  chunkType,
  type DatumFields,
  type ModelInputFields,
  modelInputOf,
} from './model-input.ts';

/** What an object is taken for. */
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
 * Tells the inputs of model APIs by their fields, since most come as plain objects.
 *
 * Each must show enough to be no accident, because a wrong guess counts too little: a model input
 * is empty or has a chunk of a known kind, a chunk on its own has its `type` and the field that
 * goes with it, a tensor a `dtype`.
 */
export function kindOf(value: KnownFields): Kind {
  if (isChat(value)) return 'chat';
  if (isMessage(value)) return 'message';
  if (isModelInput(value)) return 'model-input';
  const modelInput = modelInputOf(value);
  if (isObject(modelInput) && hasChunks(modelInput)) return 'datum';
  if (isTypedChunk(value)) return 'chunk';
  return typeof value.dtype === 'string' && isObject(value.data) ? 'tensor' : 'other';
}

function isModelInput({ chunks }: ModelInputFields): boolean {
  return isList(chunks) && (chunks.length === 0 || chunks.some(isKnownChunk));
}

function hasChunks({ chunks }: ModelInputFields): boolean {
  return isList(chunks);
}

function isTypedChunk({ type, tokens, data, location }: ChunkFields): boolean {
  switch (type) {
    case 'encoded_text':
      return tokens !== undefined;
    case 'image':
      return data !== undefined;
    case 'image_asset_pointer':
      return location !== undefined;
    default:
      return false;
  }
}

function isKnownChunk(chunk: unknown): boolean {
  return isObject(chunk) && chunkType(chunk) !== undefined;
}
