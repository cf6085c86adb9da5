import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../src/util/pending-call.ts';

describe('a deferred', () => {
  it('settles its own promise, whatever was made since', async () => {
    const first = deferred<number>();
    const second = deferred<number>();
    second.resolve(2);
    first.resolve(1);
    expect(await Promise.all([first.promise, second.promise])).toEqual([1, 2]);
  });

  it('becomes what a promise becomes', async () => {
    const { promise, resolve } = deferred<number>();
    resolve(Promise.reject(new Error('no')));
    await expect(promise).rejects.toThrow('no');
  });
});

describe('a task bound to the async context of its call', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('keeps it in runtimes whose resources have no key of Node', async () => {
    const storage = new AsyncLocalStorage<string>();
    // As in Bun, Deno and workerd, which do not tell whether a storage is in use.
    class AsyncResource {
      readonly #run = AsyncLocalStorage.snapshot();
      runInAsyncScope(call: () => void): void {
        this.#run(call);
      }
    }
    const hooks = { ...(await import('node:async_hooks')), AsyncResource };
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(hooks);
    vi.resetModules();
    const { bindTask } = await import('../../src/util/pending-call.ts');
    const bound = storage.run('call', () => bindTask(() => storage.getStore(), Promise.resolve()));
    const seen: unknown[] = [];
    storage.run('elsewhere', () => bound?.runInAsyncScope(() => seen.push(bound.task())));
    expect(seen).toEqual(['call']);
  });
});
