import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, createLimiterGroup } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { fate } from '../../limiter/harness.ts';
import { serve } from '../../limiter/server.ts';
import { type Pending, pending, tooMany } from '../../request/harness.ts';

const storage = new AsyncLocalStorage<string>();

/** Calls that go one at a time, each from a context that has its name; what their tasks saw. */
function calls() {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, concurrency: 1, random: () => 0 });
  const seen: (readonly [name: string, store: string | undefined])[] = [];
  const ends: Pending<string>[] = [];
  const task = (name: string) => () => {
    seen.push([name, storage.getStore()]);
    const end = pending<string>();
    ends.push(end);
    return end.promise;
  };
  return { clock, limiter, seen, ends, task };
}

describe('the async context of a call', () => {
  it('is active in its task, wherever the call has waited', async () => {
    const { clock, limiter, seen, ends, task } = calls();
    const { signal } = new AbortController();
    const wrapped = limiter.wrap((name: string) => task(name)());
    const said = [undefined, { priority: 1 }, { signal }, { bytes: 5 }];
    for (const [index, options] of said.entries()) {
      storage.run(`run ${index}`, () => fate(limiter.run(task(`run ${index}`), options)));
    }
    storage.run('wrap', () => fate(wrapped('wrap')));
    fate(limiter.run(task('none')));
    for (let turn = 0; turn < 6; turn += 1) {
      // One task's end, in the context of another, lets the next one go.
      storage.run('elsewhere', () => ends[turn]?.resolve('ok'));
      await clock.advanceAsync(1);
    }
    expect(seen).toHaveLength(6);
    for (const [name, store] of seen) expect(store).toBe(name === 'none' ? undefined : name);
  });

  it('is active in each further attempt', async () => {
    const { clock, limiter, seen, ends, task } = calls();
    storage.run('a', () => fate(limiter.run(task('a'))));
    storage.run('b', () => fate(limiter.run(task('b'))));
    storage.run('elsewhere', () => ends[0]?.reject(tooMany(500)));
    await clock.advanceAsync(1_000);
    expect(seen).toEqual([
      ['a', 'a'],
      ['a', 'a'],
    ]);
  });

  it('is active in the tasks of a group', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((key: string) => key, { clock, shared: { concurrency: 1 } });
    const seen: unknown[] = [];
    for (const name of ['a', 'b', 'c']) {
      storage.run(name, () => fate(group.run(name, async () => seen.push(storage.getStore()))));
    }
    await clock.advanceAsync(1);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('is active in a call of fetch', async () => {
    const { url } = await serve((_request, response) => response.end('ok'));
    const { fetch: real } = globalThis;
    const stores: unknown[] = [];
    globalThis.fetch = (...args) => {
      stores.push(storage.getStore());
      return real(...args);
    };
    try {
      const paced = createLimiter({ concurrency: 1 }).fetch;
      await Promise.all(
        ['a', 'b'].map((name) => storage.run(name, async () => (await paced(url)).text())),
      );
      expect(stores).toEqual(['a', 'b']);
    } finally {
      globalThis.fetch = real;
    }
  });

  it('stays the caller’s if an instrumentation sets another one for the call', async () => {
    const trace = new AsyncLocalStorage<string>();
    const clock = new ManualClock();
    const seen: unknown[] = [];
    const instrumentation = {
      sending: (_ticket: unknown, send: () => void) => trace.run('span', send),
    };
    const limiter = createLimiter({ clock, concurrency: 1, instrumentation });
    const task = async () => seen.push([trace.getStore(), storage.getStore()]);
    for (const name of ['a', 'b']) {
      trace.run('caller', () => storage.run(name, () => fate(limiter.run(task))));
    }
    await clock.advanceAsync(1);
    expect(seen).toEqual([
      ['span', 'a'],
      ['span', 'b'],
    ]);
  });

  it('is never that of another call, in any order of arrivals, waits and ends', async () => {
    const step = fc.record({
      do: fc.constantFrom('call', 'call', 'call', 'end', 'reject', 'wait', 'stream'),
      priority: fc.integer({ min: 0, max: 2 }),
      isAbortable: fc.boolean(),
      isOutside: fc.boolean(),
    });
    const law = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { clock, limiter, seen, ends, task } = calls();
      for (const [index, { do: what, priority, isAbortable, isOutside }] of steps.entries()) {
        const name = `${index}`;
        const { signal } = new AbortController();
        const options = { priority, ...(isAbortable && { signal }) };
        const call = () => fate(limiter.run(task(isOutside ? 'none' : name), options));
        if (what === 'call') isOutside ? call() : storage.run(name, call);
        else if (what === 'stream')
          of(1)
            .pipe(limiter.throttle(async () => 1))
            .subscribe();
        else if (what === 'end') storage.run('end', () => ends.shift()?.resolve('ok'));
        else if (what === 'reject') storage.run('no', () => ends.shift()?.reject(tooMany(5)));
        else await clock.advanceAsync(7);
      }
      for (const [name, store] of seen) expect(store).toBe(name === 'none' ? undefined : name);
    });
    await fc.assert(law);
  });
});
