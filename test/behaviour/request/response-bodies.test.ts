import { Readable } from 'node:stream';
import { concat, NEVER, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, throttle, type Verdict } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { watch } from '../../request/harness.ts';

const QUOTA = { error: { message: 'You exceeded your quota.', code: 'insufficient_quota' } };
const DELAYED = {
  error: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '22s' }],
  },
};

const says = (body: unknown, status = 429) => Response.json(body, { status });

/** A body that its test feeds. */
function fed(type = 'application/json') {
  let feed!: ReadableStreamDefaultController<Uint8Array>;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      feed = controller;
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const response = new Response(body, { status: 429, headers: { 'content-type': type } });
  return { response, feed, cancelled: () => cancelled };
}

/** Answers with each response in turn, then well. */
function answering(responses: readonly Response[], clock: ManualClock) {
  const calls: number[] = [];
  const project = async () => {
    calls.push(clock.now());
    return responses[calls.length - 1] ?? new Response('good');
  };
  return { calls, project };
}

describe('the body of a Response that is not ok', () => {
  it('may say that a retry does not help, and can still be read by the caller', async () => {
    const clock = new ManualClock();
    const { calls, project } = answering([says(QUOTA)], clock);
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(calls).toEqual([0]);
    expect(seen.state).toBe('complete');
    expect(await seen.values[0]?.json()).toEqual(QUOTA);
    expect(clock.pendingTimers).toBe(0);
  });

  it('may say how long to wait', async () => {
    const clock = new ManualClock();
    const { calls, project } = answering([says(DELAYED)], clock);
    const limiter = createLimiter({ clock, adaptive: false });
    const answer = limiter.run(project);
    await clock.runAllAsync();
    expect((await answer).status).toBe(200);
    expect(calls).toEqual([0, 22_000]);
  });

  it('opens a circuit breaker with what it says', async () => {
    const clock = new ManualClock();
    const { project } = answering([says(QUOTA)], clock);
    const limiter = createLimiter({ clock, adaptive: false, circuitBreaker: true });
    const answer = limiter.run(project);
    await clock.advanceAsync(10);
    expect((await answer).status).toBe(429);
    expect(limiter.snapshot().circuitBreaker).toMatchObject({ state: 'open', reason: 'quota' });
  });

  it('is passed to the user’s classifier', async () => {
    const clock = new ManualClock();
    const { calls, project } = answering([says({ wait: 7 })], clock);
    const bodies: (string | undefined)[] = [];
    const classify = (_: unknown, body?: string): Verdict => {
      bodies.push(body);
      return { kind: 'throttled', retryAfterMs: JSON.parse(body ?? '{}').wait };
    };
    watch(of('a').pipe(throttle(project, { clock, adaptive: false, classify })));
    await clock.runAllAsync();
    expect(bodies).toEqual(['{"wait":7}']);
    expect(calls).toEqual([0, 7]);
  });

  it('that does not arrive is not awaited', async () => {
    const clock = new ManualClock();
    const slow = fed();
    const { calls, project } = answering([slow.response], clock);
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 3000]);
    expect(slow.cancelled()).toBe(true);
    expect(seen.values.map(({ status }) => status)).toEqual([200]);
  });

  it('that breaks off is ignored', async () => {
    const clock = new ManualClock();
    const broken = fed();
    const { calls, project } = answering([broken.response], clock);
    watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.advanceAsync(5);
    broken.feed.error(new Error('reset'));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 1005]);
  });

  it('is read up to 64 KiB', async () => {
    const clock = new ManualClock();
    const long = fed();
    const { calls, project } = answering([long.response], clock);
    watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.advanceAsync(0);
    for (let n = 0; n < 65; n += 1) long.feed.enqueue(new Uint8Array(1024).fill(32));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 1000]);
    expect(long.cancelled()).toBe(true);
  });

  it('is read if its type is not told', async () => {
    const clock = new ManualClock();
    const untyped = fed('');
    const { calls, project } = answering([untyped.response], clock);
    watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    untyped.feed.enqueue(new TextEncoder().encode('try again in 7s'));
    untyped.feed.close();
    await clock.runAllAsync();
    expect(calls).toEqual([0, 7000]);
  });

  it.each(['text/event-stream', 'application/octet-stream', 'image/png'])(
    'of the type %j is not read',
    async (type) => {
      const clock = new ManualClock();
      const { calls, project } = answering([fed(type).response], clock);
      watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
      await clock.runAllAsync();
      expect(calls).toEqual([0, 1000]);
    },
  );

  it.each([
    ['longer than is read', 'x'.repeat(100 * 1024), 0],
    ['later than is waited for', '{', 2_000],
  ])('can be cancelled if it is %s', async (_which, text, waitMs) => {
    const clock = new ManualClock();
    const { response, feed, cancelled } = fed();
    const limiter = createLimiter({ clock, adaptive: false, maxAttempts: 1 });
    const answer = limiter.run(async () => response);
    feed.enqueue(new TextEncoder().encode(text));
    await clock.advanceAsync(waitMs);
    const { body } = await answer;
    expect(cancelled()).toBe(false);
    const cancelling = body?.cancel();
    expect(cancelled()).toBe(true);
    await cancelling;
  });

  it('that is being read already is not touched', async () => {
    const clock = new ManualClock();
    const read = says(QUOTA);
    await read.text();
    const { calls, project } = answering([read], clock);
    watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 1000]);
  });
});

describe('while the body is being read', () => {
  it('unsubscribing stops the reading, and leaves nothing behind', async () => {
    const clock = new ManualClock();
    const slow = fed();
    const limiter = createLimiter({ clock, adaptive: false });
    const { project } = answering([slow.response], clock);
    const seen = watch(of('a').pipe(limiter.throttle(project)));
    await clock.advanceAsync(10);
    expect(limiter.snapshot().concurrency.inFlight).toBe(1);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
    expect(slow.cancelled()).toBe(true);
    await clock.runAllAsync();
    expect(limiter.feedback.backoffUntil).toBeUndefined();
    expect(seen.values).toEqual([]);
    expect(limiter.snapshot().concurrency.inFlight).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('what an Observable emits after it waits, and keeps its order', async () => {
    const clock = new ManualClock();
    const refusal = says(QUOTA);
    const project = () => of(refusal, new Response('more'));
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(seen.values.map(({ status }) => status)).toEqual([429, 200]);
    expect(seen.state).toBe('complete');
  });

  it('an error after it waits too', async () => {
    const clock = new ManualClock();
    const inner = new Subject<Response>();
    const seen = watch(of('a').pipe(throttle(() => inner, { clock })));
    inner.next(says(QUOTA));
    inner.error(new Error('late'));
    expect(seen.state).toBe('open');
    await clock.runAllAsync();
    expect(seen.values).toHaveLength(1);
    expect(seen.error).toMatchObject({ message: 'late' });
  });

  it('what comes after one that is sent again is dropped', async () => {
    const clock = new ManualClock();
    let calls = 0;
    const project = () => {
      calls += 1;
      return calls === 1
        ? concat(of(says(DELAYED), new Response('not this')), NEVER)
        : of(new Response('good'));
    };
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(await Promise.all(seen.values.map((value) => value.text()))).toEqual(['good']);
    expect(seen.state).toBe('complete');
  });
});

describe('the body of a response that is thrown unread, as ky does', () => {
  const thrown = (response: Response) => Object.assign(new Error('HTTPError'), { response });

  it('may say that a retry does not help, and can still be read by the caller', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    let calls = 0;
    const answer = limiter.run(() => {
      calls += 1;
      return Promise.reject(thrown(says(QUOTA)));
    });
    const error = await answer.catch((reason) => reason);
    expect(calls).toBe(1);
    expect(await error.response.json()).toEqual(QUOTA);
    expect(clock.pendingTimers).toBe(0);
  });

  it('may say how long to wait', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    const { response, feed } = fed();
    const calls: number[] = [];
    const answer = limiter.run(async () => {
      calls.push(clock.now());
      if (calls.length === 1) throw thrown(response);
      return 'good';
    });
    feed.enqueue(new TextEncoder().encode(JSON.stringify(DELAYED)));
    feed.close();
    await clock.runAllAsync();
    expect(await answer).toBe('good');
    expect(calls).toEqual([0, 22_000]);
  });

  it('is discarded if another attempt follows', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    const { response, cancelled } = fed();
    let calls = 0;
    const answer = limiter.run(async () => {
      calls += 1;
      if (calls === 1) throw thrown(response);
      return 'good';
    });
    await clock.runAllAsync();
    expect([await answer, cancelled()]).toEqual(['good', true]);
  });

  it('is waited for no longer than two seconds, and not at all where it was read', async () => {
    for (const isRead of [false, true]) {
      const clock = new ManualClock();
      const limiter = createLimiter({ clock, adaptive: false, maxAttempts: 1 });
      const { response, feed } = fed();
      if (isRead) {
        feed.close();
        await response.text();
      }
      const error = thrown(response);
      const ended = expect(limiter.run(() => Promise.reject(error))).rejects.toBe(error);
      await clock.runAllAsync();
      await ended;
      expect(clock.now()).toBe(isRead ? 0 : 2_000);
    }
  });
});

describe('the stream in an error of axios', () => {
  const thrown = (status: number) => {
    const data = Readable.from(['an', 'answer']);
    const error = Object.assign(new Error('axios'), { response: { status, headers: {}, data } });
    return { data, error };
  };

  it('is destroyed if another attempt follows: its connection is taken until then', async () => {
    const clock = new ManualClock();
    const { data, error } = thrown(429);
    const errors: unknown[] = [error];
    const limiter = createLimiter({ clock, adaptive: false });
    const answer = limiter.run(async () => {
      if (errors.length > 0) throw errors.pop();
      return 'good';
    });
    await clock.runAllAsync();
    expect(await answer).toBe('good');
    expect(data.destroyed).toBe(true);
  });

  it('is left to the caller if none follows', async () => {
    const { data, error } = thrown(400);
    const limiter = createLimiter({ clock: new ManualClock(), adaptive: false });
    await expect(limiter.run(() => Promise.reject(error))).rejects.toBe(error);
    expect(data.destroyed).toBe(false);
    expect((await data.toArray()).join(' ')).toBe('an answer');
  });
});
