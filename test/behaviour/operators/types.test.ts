import { EMPTY, filter, from, type Observable, of, pipe, tap } from 'rxjs';
import { describe, expectTypeOf, test } from 'vitest';
import {
  type AttemptContext,
  backoffGate,
  byteBudget,
  byteEstimate,
  type Chunk,
  chunkBy,
  circuitBreaker,
  concurrencyLimit,
  createLimiter,
  createLimiterGroup,
  dispatch,
  estimateBytes,
  FeedbackSubject,
  type MapOptions,
  type Outcome,
  pace,
  type ReadableStreamLike,
  type RequestStats,
  rateLimit,
  type Sized,
  type ThrottleOptions,
  type Ticket,
  throttle,
  throttleFrom,
} from '../../../src/index.ts';

interface Prompt {
  readonly text: string;
}

const prompts: Observable<Prompt> = EMPTY;

// The compiler checks what is expected here; nothing of it runs.
describe('types of results', () => {
  test('come from whatever project returns', () => {
    expectTypeOf(prompts.pipe(throttle(async ({ text }) => text.length))).toEqualTypeOf<
      Observable<number>
    >();
    expectTypeOf(prompts.pipe(throttle((prompt) => of(prompt)))).toEqualTypeOf<
      Observable<Prompt>
    >();
    expectTypeOf(prompts.pipe(throttle(() => ['a', 1]))).toEqualTypeOf<
      Observable<string | number>
    >();
    expectTypeOf(prompts.pipe(throttle(() => new Set<bigint>()))).toEqualTypeOf<
      Observable<bigint>
    >();
    const generate = async function* () {
      yield 1;
    };
    expectTypeOf(prompts.pipe(throttle(() => generate()))).toEqualTypeOf<Observable<number>>();
    expectTypeOf(prompts.pipe(throttle(() => EMPTY))).toEqualTypeOf<Observable<never>>();
  });

  test('are unions where project returns one of several', () => {
    const either = prompts.pipe(throttle(({ text }) => (text ? of(1) : of('none'))));
    expectTypeOf(either).toEqualTypeOf<Observable<string | number>>();
    const mixed = prompts.pipe(throttle(({ text }) => (text ? of(1) : Promise.resolve('none'))));
    expectTypeOf(mixed).toEqualTypeOf<Observable<string | number>>();
  });

  test('may be either where outcomes are wanted or not only at run time', () => {
    const options: { outcomes: boolean; concurrency: number } = { outcomes: true, concurrency: 4 };
    const send = async ({ text }: Prompt) => text;
    type Either = Observable<string | Outcome<Prompt, string>>;
    expectTypeOf(prompts.pipe(throttle(send, options))).toEqualTypeOf<Either>();
    expectTypeOf(
      prompts.pipe(dispatch(send, { outcomes: options.outcomes })),
    ).toEqualTypeOf<Either>();
  });

  test('may be either in a list, too, and also if options are declared as such', () => {
    const send = async (word: string) => word.length;
    const group = createLimiterGroup((word: string) => word);
    type Either = (number | Outcome<string, number>)[];
    const lists = async (outcomes: boolean, options: MapOptions<string>) => {
      expectTypeOf(await createLimiter().map(['a'], send, { outcomes })).toEqualTypeOf<Either>();
      expectTypeOf(await createLimiter().map(['a'], send, options)).toEqualTypeOf<Either>();
      expectTypeOf(await group.map(['a'], send, { outcomes })).toEqualTypeOf<Either>();
      const list = await group.map(['a'], send, { outcomes: true });
      expectTypeOf(list).toEqualTypeOf<Outcome<string, number>[]>();
    };
    expectTypeOf(lists).toBeFunction();
  });

  test('are plain results with `outcomes: undefined`', () => {
    const send = async ({ text }: Prompt) => text;
    expectTypeOf(prompts.pipe(throttle(send, { outcomes: undefined }))).toEqualTypeOf<
      Observable<string>
    >();
    const list = () => createLimiter().map(['a'], (word) => word.length, { outcomes: undefined });
    expectTypeOf(list).returns.toEqualTypeOf<Promise<number[]>>();
  });

  test('do not depend on the type that is expected of a generic function', () => {
    type Send<R> = (prompt: Prompt) => Promise<Awaited<R>>;
    const stream = <R>(send: Send<R>): Observable<Awaited<R>> => prompts.pipe(throttle(send));
    const list = <R>(send: Send<R>): Promise<Awaited<R>[]> => createLimiter().map([], send);
    expectTypeOf(stream<number>).returns.toEqualTypeOf<Observable<number>>();
    expectTypeOf(list<number>).returns.toEqualTypeOf<Promise<number[]>>();
  });

  test('are the same through dispatch, and through the throttle of a limiter', () => {
    const send = ({ text }: Prompt) => of(text);
    expectTypeOf(prompts.pipe(dispatch(send))).toEqualTypeOf<Observable<string>>();
    expectTypeOf(prompts.pipe(concurrencyLimit(), dispatch(send))).toEqualTypeOf<
      Observable<string>
    >();
    expectTypeOf(prompts.pipe(createLimiter().throttle(send))).toEqualTypeOf<Observable<string>>();
  });

  test('are outcomes with `outcomes: true`', () => {
    const expected = expectTypeOf<Observable<Outcome<Prompt, number>>>();
    expected.toEqualTypeOf(prompts.pipe(throttle(async () => 1, { outcomes: true })));
    expected.toEqualTypeOf(prompts.pipe(dispatch(async () => 1, { outcomes: true })));
    expected.toEqualTypeOf(
      prompts.pipe(createLimiter().throttle(async () => 1, { outcomes: true })),
    );
    expectTypeOf(prompts.pipe(throttle(async () => 1, { outcomes: false }))).toEqualTypeOf<
      Observable<number>
    >();
  });

  test('narrow by the status of the outcome', () => {
    prompts.pipe(throttle(async () => 1, { outcomes: true })).subscribe((outcome) => {
      expectTypeOf(outcome.request).toEqualTypeOf<Prompt>();
      expectTypeOf(outcome.stats).toEqualTypeOf<RequestStats>();
      if (outcome.status === 'ok') expectTypeOf(outcome.value).toEqualTypeOf<number>();
      else expectTypeOf(outcome.error).toEqualTypeOf<unknown>();
      // @ts-expect-error the value of an outcome that may have failed
      outcome.value;
    });
  });
});

describe('types of requests', () => {
  test('come from what a ReadableStream contains, also where the types of the DOM declare it', () => {
    type Reader<T> = ReturnType<ReadableStreamLike<T>['getReader']>;
    type Bytes = { read(view: Uint8Array): Promise<{ done: boolean; value: Uint8Array }> };
    interface DomStream<T> {
      getReader(options: { mode: 'byob' }): Reader<Uint8Array> & Bytes;
      getReader(): Reader<T>;
      getReader(options?: { mode?: 'byob' }): Reader<T> | (Reader<Uint8Array> & Bytes);
    }
    const open = <T>() => ({ getReader: () => ({}) }) as unknown as DomStream<T>;
    const lengths = (line: string) => of(line.length);
    const calls = () => {
      throttleFrom(new ReadableStream<string>(), (line) => lengths(line));
      throttleFrom(open<string>(), (line) => lengths(line));
      createLimiter().throttleFrom(open<string>(), (line) => lengths(line));
      return createLimiter().map(open<string>(), (line) => line.length);
    };
    expectTypeOf(calls).returns.toEqualTypeOf<Promise<number[]>>();
  });

  test('come from the source', () => {
    prompts.pipe(
      throttle((prompt, context) => {
        expectTypeOf(prompt).toEqualTypeOf<Prompt>();
        expectTypeOf(context).toEqualTypeOf<AttemptContext>();
        expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
        return EMPTY;
      }),
    );
    // @ts-expect-error a project for something else
    prompts.pipe(throttle((prompt: number) => of(prompt)));
  });

  test('come from the source also where the options take any value', () => {
    const lengths = expectTypeOf<Observable<number>>();
    const send = ({ text }: Prompt) => of(text.length);
    const options: Omit<ThrottleOptions, 'outcomes'> = { concurrency: 2 };
    const limiter = createLimiter();
    const anyValue = { estimate: estimateBytes, costs: (_: unknown) => ({}) };
    lengths.toEqualTypeOf(prompts.pipe(throttle((prompt) => send(prompt), options)));
    lengths.toEqualTypeOf(prompts.pipe(throttle((prompt) => send(prompt), anyValue)));
    lengths.toEqualTypeOf(prompts.pipe(limiter.throttle((prompt) => send(prompt), anyValue)));
    const declared: ThrottleOptions = options;
    expectTypeOf(prompts.pipe(throttle((prompt) => send(prompt), declared))).toEqualTypeOf<
      Observable<number | Outcome<Prompt, number>>
    >();
  });

  test('may be generic, as may be the options', () => {
    const sendAll = <T extends Prompt>(source: Observable<T>, options: ThrottleOptions<T>) =>
      source.pipe(
        throttle((value) => of(value), {
          ...options,
          outcomes: true,
          priority: (value) => value.text.length,
        }),
      );
    expectTypeOf(sendAll(prompts, {})).toEqualTypeOf<Observable<Outcome<Prompt, Prompt>>>();
  });

  test('are those of the sized values, and lists of them behind chunkBy', () => {
    prompts.pipe(
      byteEstimate(),
      throttle((prompt) => {
        expectTypeOf(prompt).toEqualTypeOf<Prompt>();
        return EMPTY;
      }),
    );
    prompts.pipe(
      byteEstimate(),
      chunkBy(),
      throttle((batch) => {
        expectTypeOf(batch).toEqualTypeOf<Prompt[]>();
        return EMPTY;
      }),
    );
    prompts.pipe(
      byteEstimate(),
      chunkBy(),
      concurrencyLimit(),
      dispatch((batch) => {
        expectTypeOf(batch).toEqualTypeOf<Prompt[]>();
        return EMPTY;
      }),
    );
  });

  test('are kept by every operator on the way', () => {
    const sized = prompts.pipe(byteEstimate(({ text }) => text.length));
    expectTypeOf(sized).toEqualTypeOf<Observable<Sized<Prompt>>>();
    expectTypeOf(sized.pipe(chunkBy())).toEqualTypeOf<Observable<Chunk<Prompt>>>();
    const ticket = expectTypeOf<Observable<Ticket<Prompt>>>();
    ticket.toEqualTypeOf(sized.pipe(concurrencyLimit()));
    ticket.toEqualTypeOf(prompts.pipe(concurrencyLimit()));
    ticket.toEqualTypeOf(prompts.pipe(concurrencyLimit(), byteBudget()));
    expectTypeOf(sized.pipe(chunkBy(), concurrencyLimit())).toEqualTypeOf<
      Observable<Ticket<Prompt[]>>
    >();
  });

  test('are kept by ten operators and more, some of them in a pipe() of their own', () => {
    const feedback = new FeedbackSubject();
    const limits = { requests: { limit: 1, windowMs: 1 } };
    const lengths = prompts.pipe(
      filter(({ text }) => text !== ''),
      byteEstimate(),
      chunkBy(),
      pipe(
        concurrencyLimit({ feedback }),
        byteBudget({ feedback }),
        rateLimit({ limits }),
        pace(),
        circuitBreaker({ feedback }),
        backoffGate({ feedback }),
      ),
      dispatch(async (batch) => batch.length, { feedback }),
      tap((length) => expectTypeOf(length).toEqualTypeOf<number>()),
    );
    expectTypeOf(lengths).toEqualTypeOf<Observable<number>>();
    // RxJS has no overload of pipe() for so many: this is why.
    const flat = prompts.pipe(
      filter(({ text }) => text !== ''),
      byteEstimate(),
      chunkBy(),
      concurrencyLimit({ feedback }),
      byteBudget({ feedback }),
      rateLimit({ limits }),
      pace(),
      circuitBreaker({ feedback }),
      backoffGate({ feedback }),
      dispatch(async () => 1, { feedback }),
    );
    expectTypeOf(flat).toEqualTypeOf<Observable<unknown>>();
  });
});

describe('what does not compile', () => {
  test('chunking of tickets, and of what has no size', () => {
    const tickets = prompts.pipe(concurrencyLimit());
    // @ts-expect-error chunks are made before the first gate
    tickets.pipe(chunkBy());
    // @ts-expect-error
    prompts.pipe(chunkBy());
    // @ts-expect-error it has the fields of a Sized, but is none
    from([{ value: 1, bytes: 1, tokens: 1 }]).pipe(chunkBy());
  });

  test('options that do not exist or have another type', () => {
    const calls = () => {
      // @ts-expect-error
      throttle(async () => 1, { concurency: 1 });
      // @ts-expect-error
      throttle(async () => 1, { outcomes: 'yes' });
      // @ts-expect-error
      concurrencyLimit({ concurrency: of('1') });
      // @ts-expect-error what project returns is no stream
      throttle(() => 5);
      // @ts-expect-error a path is no source: its letters would be sent
      throttleFrom('prompts.txt', async () => 1);
      // @ts-expect-error
      createLimiter().map('prompts.txt', async () => 1);
      // @ts-expect-error its letters would come out
      throttle(() => 'a text');
      // @ts-expect-error
      dispatch(() => 'a text');
      // @ts-expect-error
      createLimiter().throttle((n: number) => (n > 1 ? 'a text' : of(n)));
    };
    expectTypeOf(calls).toBeFunction();
  });
});
