import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import {
  EMPTY,
  from,
  mergeMap,
  type ObservableInput,
  type OperatorFunction,
  of,
  throwError,
} from 'rxjs';
import { expect, test } from 'vitest';
import { throttle } from '../../../src/index.ts';
import { runs } from '../../support/runs.ts';

/** Every kind of thing that RxJS takes for a stream, each of two values `a` and `b`. */
const inputs: Record<string, (note: (what: string) => void) => ObservableInput<string>> = {
  promise: async () => 'a',
  'late promise': async () => {
    await Promise.resolve();
    await Promise.resolve();
    return 'a';
  },
  'rejected promise': () => Promise.reject(new Error('rejected')),
  // biome-ignore lint/suspicious/noThenProperty: a thenable that is no Promise
  thenable: () => ({ then: (done: (value: string) => void) => done('a') }) as PromiseLike<string>,
  array: () => ['a', 'b'],
  'array-like': () => ({ length: 2, 0: 'a', 1: 'b' }),
  string: () => 'ab',
  set: () => new Set(['a', 'b']),
  *generator(note) {
    try {
      yield 'a';
      yield 'b';
    } finally {
      note('generator returned');
    }
  },
  async *asyncGenerator(note) {
    try {
      yield 'a';
      await Promise.resolve();
      yield 'b';
    } finally {
      note('async generator returned');
    }
  },
  async *failingAsyncGenerator() {
    yield 'a';
    throw new Error('generator');
  },
  'readable stream': () =>
    new ReadableStream<string>({
      start(stream) {
        stream.enqueue('a');
        stream.enqueue('b');
        stream.close();
      },
    }) as ObservableInput<string>,
  'interoperable observable': () =>
    ({ [Symbol.observable ?? '@@observable']: () => of('a', 'b') }) as ObservableInput<string>,
  empty: () => EMPTY,
  'failing observable': () => throwError(() => new Error('observable')),
};

const harmless = Object.keys(inputs).filter((name) => !/reject|fail/.test(name));

async function play(
  names: readonly string[],
  mapping: (
    project: (name: string, index: number) => ObservableInput<string>,
  ) => OperatorFunction<string, string>,
): Promise<readonly string[]> {
  const log: string[] = [];
  const note = (what: string) => log.push(what);
  const project = (name: string, index: number) => {
    note(`project ${name} ${index}`);
    return inputs[name]?.(note) ?? EMPTY;
  };
  from(names)
    .pipe(mapping(project))
    .subscribe({
      next: (value) => note(`next ${value}`),
      error: (error) => note(`error ${String(error)}`),
      complete: () => note('complete'),
    });
  note('subscribed');
  for (let turn = 0; turn < names.length + 2; turn += 1) await setImmediate();
  return log;
}

async function expectTheSame(names: readonly string[], concurrency: number): Promise<void> {
  const expected = await play(names, (project) => mergeMap(project, concurrency));
  for (const options of [{ concurrency }, { concurrency, adaptive: false }] as const) {
    const actual = await play(names, (project) =>
      throttle((name, { index }) => project(name, index), options),
    );
    expect(actual).toEqual(expected);
  }
  expect(expected.some((line) => /^(complete|error)/.test(line))).toBe(true);
}

test.each(Object.keys(inputs))('project may return: %s', async (name) => {
  await expectTheSame([name], 1);
  await expectTheSame([name, name, name], 2);
});

test('inputs of every kind are emitted as by mergeMap, turn by turn', async () => {
  const name = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...harmless) },
    { weight: 1, arbitrary: fc.constantFrom(...Object.keys(inputs)) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 4 }),
      expectTheSame,
    ),
    { numRuns: runs(100) },
  );
});

test('an async function that throws and a project that throws come to the same', async () => {
  const failure = new Error('broken');
  const seen: unknown[] = [];
  const sync = throttle((_: number): ObservableInput<string> => {
    throw failure;
  });
  const async = throttle(async (_: number): Promise<string> => {
    throw failure;
  });
  of(1)
    .pipe(sync)
    .subscribe({ error: (error) => seen.push(error) });
  of(1)
    .pipe(async)
    .subscribe({ error: (error) => seen.push(error) });
  await setImmediate();
  expect(seen).toEqual([failure, failure]);
});
