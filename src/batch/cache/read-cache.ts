import { messageOf } from '../errors.ts';
import { isGood, isStatus, shapeOf } from '../http/answer.ts';
import { at } from '../json.ts';
import type { BatchRequest, BatchResponse } from '../request.ts';
import type { AnswerCache } from './answer-cache.ts';

/** The cache has failed, and not a line of the input. */
export class CacheError extends Error {}

/**
 * The answer of the cache to a request; undefined: it has none.
 * @throws CacheError
 */
export function readCache(cache: AnswerCache, request: BatchRequest): BatchResponse | undefined {
  const response = getFrom(cache, request);
  if (response === undefined) return undefined;
  if (!isStatus(at(response, 'statusCode'))) {
    const must = '`cache.get` must return { statusCode, body } or undefined';
    const isPromise = typeof at(response, 'then') === 'function';
    throw new CacheError(`${must}, got ${isPromise ? 'a promise' : shapeOf(response)}`);
  }
  // It is given good answers alone, and what it returns counts as one.
  if (!isGood(response)) {
    const got = `one with status ${response.statusCode} and ${shapeOf(response.body)}`;
    throw new CacheError(`\`cache.get\` must return a good answer, got ${got}`);
  }
  return response;
}

function getFrom(cache: AnswerCache, request: BatchRequest): BatchResponse | undefined {
  try {
    return cache.get(request);
  } catch (error) {
    throw new CacheError(`cannot read from the cache: ${messageOf(error)}`);
  }
}
