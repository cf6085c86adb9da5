import { BatchError, codeOf, messageOf } from '../errors.ts';
import { countAt, isObject } from '../json.ts';
import type { BatchRequest, BatchResponse } from '../request.ts';

/** Answers by the content of their requests, over any number of runs and files. */
export interface AnswerCache {
  get(request: BatchRequest): BatchResponse | undefined;
  put(request: BatchRequest, response: BatchResponse): void;
  close(): Promise<void>;
}

/**
 * Opens a cache in a folder, which is made if need be. Its store is LMDB, of the optional package
 * `lmdb`; several runs may use one folder at a time.
 *
 * @param scope the address of the API: answers are found only with the scope they were put with
 * @throws BatchError
 */
export async function openCache(folder: string, scope: string): Promise<AnswerCache> {
  const { open } = await loadStore();
  try {
    const store = open<unknown, string>({ path: folder, compression: true });
    const keyOf = ({ hash }: BatchRequest) => `${hash} ${scope}`;
    return {
      get: (request) => responseIn(store.get(keyOf(request))),
      // Not awaited: an answer that a killed process did not write is requested again.
      put: (request, { statusCode, requestId, body }) => {
        void store.put(keyOf(request), { statusCode, requestId, body });
      },
      close: () => store.close(),
    };
  } catch (error) {
    throw new BatchError(`the cache in ${folder}: ${messageOf(error)}`, { cause: error });
  }
}

async function loadStore(): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb');
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new BatchError('a cache needs the package lmdb: npm install lmdb', { cause: error });
  }
}

function responseIn(value: unknown): BatchResponse | undefined {
  const statusCode = countAt(value, 'statusCode');
  if (!isObject(value) || statusCode === undefined) return undefined;
  const { requestId, body } = value;
  return { statusCode, body, ...(typeof requestId === 'string' && { requestId }) };
}
