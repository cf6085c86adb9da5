import {
  lastValueFrom,
  type Observable,
  of,
  Subject,
  take,
  takeUntil,
  throwError,
  toArray,
} from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import {
  createLimiter,
  createLimiterGroup,
  LimiterClosedError,
  throttleFrom,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/index.ts';
import { watch } from '../request/harness.ts';

/** Counts what was read of it, and how often it was told to stop. */
class Source<T> implements Iterable<T> {
  read = 0;
  returned = 0;
  readonly #values: (index: number) => T | undefined;

  constructor(values: (index: number) => T | undefined) {
    this.#values = values;
  }

  [Symbol.iterator](): Iterator<T> {
    return {
      next: () => {
        const value = this.#values(this.read);
        if (value === undefined) return { done: true, value: undefined };
        this.read += 1;
        return { done: false, value };
      },
      return: () => {
        this.returned += 1;
        return { done: true, value: undefined };
      },
    };
  }
}

const endless = () => new Source((index) => index);
const first = (count: number) => new Source((index) => (index < count ? index : undefined));
/** Until timers and promises that are due have run. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Lets time pass in steps: what promises do in between is part of it. */
async function pass(clock: ManualClock, ms: number, stepMs: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(stepMs);
    await settle();
  }
}
const later = <T>(clock: ManualClock, ms: number, value: T) =>
  new Promise<T>((resolve) => clock.setTimer(() => resolve(value), ms));

describe('throttleFrom', () => {
  it('reads twice the concurrency ahead, and no more', async () => {
    const source = endless();
    const answers: (() => void)[] = [];
    const project = (value: number) =>
      new Promise<number>((resolve) => answers.push(() => resolve(value)));
    const subscription = throttleFrom(source, project, { concurrency: 4 }).subscribe();
    await settle();
    expect([source.read, answers.length]).toEqual([8, 4]);
    answers.splice(0, 3).forEach((answer) => {
      answer();
    });
    await settle();
    expect(source.read).toBe(11);
    subscription.unsubscribe();
  });

  it('reads at most 1,000 more than the concurrency ahead, or up to `readAhead`', async () => {
    const never = () => new Promise<number>(() => {});
    const read = async (options: Parameters<typeof throttleFrom>[2]) => {
      const source = endless();
      const subscription = throttleFrom(source, never, options).subscribe();
      // After each 1,000 values that are not sent, the event loop comes first.
      for (let turn = 0; turn < 6; turn += 1) await new Promise(setImmediate);
      subscription.unsubscribe();
      return source.read;
    };
    expect(await read({ concurrency: 5_000 })).toBe(6_000);
    expect(await read({ concurrency: of(5_000) })).toBe(1_000);
    expect(await read({})).toBe(800);
    expect(await read({ concurrency: 5, readAhead: 7 })).toBe(7);
  });

  it('takes very many values of a source without an end of the turn, in constant stack', () => {
    const source = first(200_000);
    let sum = 0;
    throttleFrom(source, (value) => of(value), { telemetry: false }).subscribe((value) => {
      sum += value;
    });
    expect([source.read, source.returned, sum]).toEqual([200_000, 0, 19_999_900_000]);
  });

  it('emits every value of an Observable, and counts its request once', async () => {
    const source = first(5);
    const values = lastValueFrom(
      throttleFrom(source, (value) => of(value, -value), { concurrency: 1, readAhead: 1 }).pipe(
        toArray(),
      ),
    );
    expect(await values).toEqual([0, -0, 1, -1, 2, -2, 3, -3, 4, -4]);
  });

  it('keeps results in order, and reads no further than the first that is not finished', async () => {
    const clock = new ManualClock();
    const source = endless();
    const seen: number[] = [];
    const project = (value: number) => later(clock, value === 0 ? 1_000 : 1, value);
    const options = { concurrency: 4, clock, ordered: true, adaptive: false as const };
    const subscription = throttleFrom(source, project, options).subscribe((value) => {
      seen.push(value);
    });
    await pass(clock, 990, 10);
    expect([seen.length, source.read]).toEqual([0, 8]);
    await pass(clock, 10, 10);
    expect(seen.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    subscription.unsubscribe();
  });

  it('has one outcome a request, failed ones too', async () => {
    const source = first(50);
    const project = (value: number) =>
      value % 2 === 0 ? of(value) : throwError(() => new Error(`no ${value}`));
    const options = { concurrency: 3, outcomes: true } as const;
    const outcomes = await lastValueFrom(throttleFrom(source, project, options).pipe(toArray()));
    expect(outcomes.map(({ request, status }) => [request, status])).toEqual(
      Array.from({ length: 50 }, (_, index) => [index, index % 2 === 0 ? 'ok' : 'failed']),
    );
  });

  it('retries a request that got a 429, and counts it once', async () => {
    const clock = new ManualClock();
    const source = first(40);
    const project = async (value: number, { attempt }: { attempt: number }) =>
      attempt === 1 && value % 5 === 0
        ? new Response('slow down', { status: 429, headers: { 'retry-after': '1' } })
        : value;
    const options = { concurrency: 4, ordered: true, clock };
    const results = lastValueFrom(throttleFrom(source, project, options).pipe(toArray()));
    await pass(clock, 20_000, 100);
    expect(await results).toEqual(Array.from({ length: 40 }, (_, index) => index));
  });

  it('counts a request again that is sent again, so that few results wait for it', async () => {
    const clock = new ManualClock();
    const source = endless();
    const attempts: number[] = [];
    const project = (value: number, { attempt }: { readonly attempt: number }) => {
      if (value > 0) return later(clock, 10, value);
      attempts.push(attempt);
      const answer = new Response('busy', { status: 503 });
      return attempt === 1 ? later(clock, 10, answer) : new Promise<Response>(() => {});
    };
    const options = { concurrency: 4, readAhead: 6, ordered: true, clock, random: () => 0 };
    const subscription = throttleFrom(source, project, options).subscribe();
    await pass(clock, 5_000, 10);
    expect(attempts).toEqual([1, 2]);
    expect(source.read).toBeLessThan(20);
    subscription.unsubscribe();
  });

  it('sends read requests by priority', async () => {
    const clock = new ManualClock();
    const sent: number[] = [];
    const project = (value: number) => {
      sent.push(value);
      return later(clock, 10, value);
    };
    const options = {
      concurrency: 1,
      readAhead: 4,
      clock,
      priority: (value: number) => value,
      adaptive: false as const,
    };
    throttleFrom(first(6), project, options).subscribe();
    await pass(clock, 100, 10);
    expect(sent).toEqual([0, 4, 5, 3, 2, 1]);
  });

  it.each([
    { from: 'throttleFrom', outcomes: true },
    { from: 'throttleFrom', outcomes: false },
    { from: 'limiter.throttleFrom', outcomes: true },
    { from: 'limiter.throttleFrom', outcomes: false },
  ])(
    'reads only what the queue has room for: $from, outcomes: $outcomes',
    async ({ from, outcomes }) => {
      const clock = new ManualClock();
      const limits = { concurrency: 4, maxQueue: 2, clock };
      const rejected = new Set<number>();
      const starts: number[] = [];
      const project = async (value: number) => {
        starts.push(clock.now());
        await later(clock, 10, undefined);
        // All slots are full of requests that wait to be sent again.
        if (rejected.has(value) || value >= 8) return value;
        rejected.add(value);
        throw Object.assign(new Error('slow down'), { status: 429 });
      };
      const source = first(40);
      const sent: Observable<unknown> =
        from === 'throttleFrom'
          ? throttleFrom(source, project, { ...limits, outcomes })
          : createLimiter(limits).throttleFrom(source, project, { outcomes });
      const watched = watch(sent);
      await settle();
      // Four in flight, two in the queue.
      expect([starts.length, source.read]).toEqual([4, 6]);
      await pass(clock, 60_000, 10);
      expect([watched.state, watched.error]).toEqual(['complete', undefined]);
      expect(watched.values).toHaveLength(40);
      if (outcomes)
        expect(watched.values).not.toContainEqual(expect.objectContaining({ status: 'failed' }));
    },
  );

  it('reads on when a request leaves the full queue for a rate, before another ends', async () => {
    const clock = new ManualClock();
    const source = first(10);
    const starts: number[] = [];
    const project = async () => {
      starts.push(clock.now());
      return later(clock, 1_000, undefined);
    };
    const pace = { intervalMs: 10, jitter: 0 };
    throttleFrom(source, project, { maxQueue: 1, pace, clock, outcomes: true }).subscribe();
    await pass(clock, 100, 10);
    expect(starts).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
  });

  it('reads one value if requests of others fill the queue', async () => {
    const limiter = createLimiter({ concurrency: 1, maxQueue: 1 });
    const never = () => new Promise<never>(() => {});
    void limiter.run(never);
    void limiter.run(never);
    const source = endless();
    const failed = lastValueFrom(limiter.throttleFrom(source, async () => 1));
    await expect(failed).rejects.toThrow('maxQueue is 1');
    expect(source.read).toBe(1);
  });

  it('calls return() once when it is unsubscribed, and when a request fails', async () => {
    const source = endless();
    const stream = throttleFrom(source, () => new Promise(() => {}), { concurrency: 2 });
    const subscription = stream.subscribe();
    subscription.unsubscribe();
    subscription.unsubscribe();
    expect(source.returned).toBe(1);
    const failing = endless();
    const boom = new Error('boom');
    const failed = lastValueFrom(throttleFrom(failing, () => Promise.reject(boom)));
    await expect(failed).rejects.toBe(boom);
    expect(failing.returned).toBe(1);
  });

  it('closes a generator that unsubscribes it', () => {
    const stop = new Subject<void>();
    const seen: string[] = [];
    function* source() {
      try {
        yield 1;
        stop.next();
        yield 2;
        yield 3;
      } finally {
        seen.push('closed');
      }
    }
    throttleFrom(source(), (value) => of(`${value}`))
      .pipe(takeUntil(stop))
      .subscribe((value) => seen.push(value));
    expect(seen).toEqual(['1', 'closed']);
  });

  it('does not read on when it is unsubscribed inside next', () => {
    const source = endless();
    const seen: number[] = [];
    throttleFrom(source, (value) => of(value), { concurrency: 4 })
      .pipe(take(3))
      .subscribe((value) => seen.push(value));
    expect([seen, source.read, source.returned]).toEqual([[0, 1, 2], 3, 1]);
  });

  it('errors with the error of the source, and does not call return() of what has ended', async () => {
    const boom = new Error('the disk');
    let returned = 0;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(boom),
        return: () => {
          returned += 1;
          return Promise.resolve({ done: true as const, value: undefined });
        },
      }),
    };
    await expect(lastValueFrom(throttleFrom(source, () => of(1)))).rejects.toBe(boom);
    const throwing = new Source<number>(() => {
      throw boom;
    });
    await expect(lastValueFrom(throttleFrom(throwing, () => of(1)))).rejects.toBe(boom);
    expect([returned, throwing.returned]).toEqual([0, 0]);
  });

  it('releases a source that never answers', async () => {
    let returned = 0;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: () => {
          returned += 1;
          return new Promise<never>(() => {});
        },
      }),
    };
    const subscription = throttleFrom(source, () => of(1)).subscribe();
    await settle();
    subscription.unsubscribe();
    expect(returned).toBe(1);
  });

  it('reads a ReadableStream, and cancels it', async () => {
    let cancelled = 0;
    let pulled = 0;
    const stream = () =>
      new ReadableStream<number>({
        pull: (controller) => {
          if (pulled === 30) controller.close();
          else controller.enqueue(pulled++);
        },
        cancel: () => {
          cancelled += 1;
        },
      });
    const all = throttleFrom(stream(), (value) => of(value), { concurrency: 2 });
    expect(await lastValueFrom(all.pipe(toArray()))).toHaveLength(30);
    pulled = 31;
    const subscription = throttleFrom(stream(), () => new Promise(() => {})).subscribe();
    await settle();
    subscription.unsubscribe();
    await settle();
    expect(cancelled).toBe(1);
  });

  it('reads a stream that is no async iterable by its reader, and cancels it', async () => {
    let cancelled = 0;
    let read = 0;
    const reader = {
      read: async () => (read === 30 ? { done: true } : { done: false, value: read++ }),
      cancel: () => {
        cancelled += 1;
        return Promise.reject(new Error('is not heard'));
      },
    };
    const stream = { getReader: () => reader };
    const all = throttleFrom(stream, (value) => of(value), { concurrency: 2 });
    expect(await lastValueFrom(all.pipe(toArray()))).toEqual([...Array(30).keys()]);
    read = 0;
    const subscription = throttleFrom(stream, () => new Promise(() => {})).subscribe();
    subscription.unsubscribe();
    await settle();
    expect(cancelled).toBe(1);
  });

  it.each([undefined, null, 7])(
    'fails if the iterator of the source returns %s',
    async (result) => {
      const next = () => result as never;
      const rejected = expect.objectContaining({
        message: `the source's iterator must return objects, got ${result}`,
      });
      const sync = throttleFrom({ [Symbol.iterator]: () => ({ next }) }, () => of(1));
      await expect(lastValueFrom(sync)).rejects.toEqual(rejected);
      const later = async () => next();
      const async = throttleFrom({ [Symbol.asyncIterator]: () => ({ next: later }) }, () => of(1));
      await expect(lastValueFrom(async)).rejects.toEqual(rejected);
    },
  );

  it.each(['done', 'value'])('errors if the getter `%s` of a result throws', async (name) => {
    const broken = Object.defineProperty({ done: false, value: 3 }, name, {
      get: () => {
        throw new Error('unreadable');
      },
    });
    for (const next of [() => broken, async () => broken]) {
      let reads = 0;
      const iterator = {
        next: () => {
          reads += 1;
          return reads < 3 ? { done: false, value: reads } : next();
        },
      };
      const source = { [Symbol.asyncIterator]: () => iterator as AsyncIterator<number> };
      const seen = watch(throttleFrom(source, async (value) => value, { readAhead: 1 }));
      await vi.waitFor(() => expect(seen.state).toBe('error'));
      expect(seen.error).toEqual(new Error('unreadable'));
    }
  });

  it('refuses wrong sources and wrong options', () => {
    const project = () => of(1);
    expect(() => throttleFrom('text' as never, project)).toThrow(
      '`source` must be an iterable, an async iterable or a ReadableStream, got "text"',
    );
    for (const wrong of [null, {}, 7]) {
      expect(() => throttleFrom(wrong as never, project)).toThrow('`source` must be an iterable');
    }
    expect(() => throttleFrom([], project, { readAhead: 0 })).toThrow(
      '`readAhead` must be an integer >= 1, got 0',
    );
    expect(() => throttleFrom([], project, { concurency: 3 } as never)).toThrow('concurrency');
    expect(() => throttleFrom([], 'project' as never)).toThrow('`project` must be a function');
  });
});

describe('limiter.throttleFrom', () => {
  it('sends through the gates of the limiter, and reads as far as its concurrency asks for', async () => {
    const limiter = createLimiter({ concurrency: 3 });
    const source = endless();
    const subscription = limiter.throttleFrom(source, () => new Promise(() => {})).subscribe();
    expect(limiter.snapshot()).toMatchObject({ waiting: 3, concurrency: { inFlight: 3 } });
    expect(source.read).toBe(6);
    subscription.unsubscribe();
    expect(source.returned).toBe(1);
    const values = limiter.throttleFrom([1, 2, 3], async (value) => value * 2);
    expect(await lastValueFrom(values.pipe(toArray()))).toEqual([2, 4, 6]);
    expect(() => limiter.throttleFrom([], async () => 1, { readAhead: 0.5 })).toThrow('readAhead');
  });

  it('reads no more once the limiter is closed, and ends after the outcomes of what it has read', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ concurrency: 3, clock });
    const source = endless();
    const send = (value: number) => later(clock, 10, value);
    const watched = watch(limiter.throttleFrom(source, send, { outcomes: true }));
    await settle();
    limiter.close();
    await pass(clock, 100, 10);
    expect([source.read, source.returned]).toEqual([6, 1]);
    expect(watched.values.map(({ status }) => status)).toEqual(Array(6).fill('ok'));
    expect(watched.error).toBeInstanceOf(LimiterClosedError);
    const late = watch(limiter.throttleFrom(source, send, { outcomes: true }));
    expect([late.values, late.error]).toEqual([[], watched.error]);
    await limiter.drain();
  });

  it('reads no more once the group is closed, and ends after the outcomes of what it has read', async () => {
    const clock = new ManualClock();
    const keyOf = (value: number) => `key ${value % 2}`;
    const group = createLimiterGroup(keyOf, { each: { concurrency: 2 }, clock });
    const source = first(1_000); // an endless one would be read for ever
    const send = (value: number) => later(clock, 10, value);
    const options = { outcomes: true, readAhead: 6 } as const;
    const watched = watch(group.throttleFrom(source, send, options));
    await settle();
    group.close();
    await pass(clock, 100, 10);
    expect([source.read, source.returned]).toEqual([6, 1]);
    expect(watched.values.map(({ status }) => status)).toEqual(Array(6).fill('ok'));
    expect(watched.error).toBeInstanceOf(LimiterClosedError);
    const late = watch(group.throttleFrom(source, send, options));
    expect([late.values, late.error]).toEqual([[], watched.error]);
    await group.drain();
  });

  it('fails requests that it reads after the limiter was closed', async () => {
    const limiter = createLimiter();
    limiter.close();
    const source = endless();
    const failed = lastValueFrom(limiter.throttleFrom(source, async () => 1));
    await expect(failed).rejects.toThrow('closed');
    expect(source.returned).toBe(1);
  });
});
