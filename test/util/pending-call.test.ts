import { describe, expect, it } from 'vitest';
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
