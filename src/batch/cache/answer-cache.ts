import type { Database } from 'lmdb';
import { BatchError, codeOf, messageOf } from '../errors.ts';
import { at, countAt, isObject } from '../json.ts';
import type { BatchRequest, BatchResponse } from '../request.ts';

/** Answers by the content of their requests, over any number of runs and files. */
export interface AnswerCache {
  /** If this throws, or returns anything but a good answer or undefined, the run stops. */
  get(request: BatchRequest): BatchResponse | undefined;
  /** If this throws, or returns a promise that rejects, the run stops. */
  put(request: BatchRequest, response: BatchResponse): unknown;
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
    return cacheIn(open<unknown, string>({ path: folder, compression: true }), scope);
  } catch (error) {
    throw new BatchError(`the cache in ${folder}: ${messageOf(error)}`, { cause: error });
  }
}

/** What a cache needs of an LMDB store. */
type Store = Pick<Database<unknown, string>, 'get' | 'put' | 'committed' | 'close'>;

/** A cache in an open store. @param scope as for {@link openCache} */
export function cacheIn(store: Store, scope: string): AnswerCache {
  let hasFailed = false;
  const keyOf = ({ hash }: BatchRequest) => `${hash} ${scope}`;
  return {
    get: (request) => responseIn(store.get(keyOf(request))),
    put: async (request, { statusCode, requestId, body }) => {
      try {
        const written = store.put(keyOf(request), { statusCode, requestId, body });
        // lmdb has just planned to end its batch of writes in the same way, and then makes a
        // promise of its own: without a handler its rejection would end the process.
        setImmediate(() => void store.committed.then(ignore, ignore));
        await written;
      } catch (error) {
        hasFailed = true;
        // The cause of a failed commit, such as a full disk, is a rejected promise in the error.
        await at(error, 'commitError');
        throw error;
      }
    },
    // Closing would wait for the failed commit for ever.
    close: async () => {
      if (!hasFailed) await store.close();
    },
  };
}

function ignore(): void {}

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
