import { from, lastValueFrom, take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { HttpFault } from '../../src/simulator/index.ts';
import { expectIdle } from '../limiter/harness.ts';
import { until } from '../simulator/http/client.ts';
import { CLIENTS } from './clients.ts';
import { expectAnswers, expectSettled, first, HOWS, PROMPTS, start, WAYS, WHOLE } from './rig.ts';

/** Two streams at a time are one too many for this server, and it says so. */
const ONE_AT_A_TIME = { concurrency: { units: 1, queue: 0, status: 429 } } as const;

const HANG: HttpFault = { fault: 'hang', afterWords: 2 };

describe.concurrent.each(CLIENTS)('a stream of %s', (sdk, make) => {
  it.each(WAYS)('holds its slot until its end: %s', async (_way, sendAll) => {
    await using rig = await start(ONE_AT_A_TIME, undefined, { concurrency: 1 });
    const ended = await sendAll(rig, make, HOWS.streamed, PROMPTS);
    expectAnswers(ended);
    expectSettled(rig, ended);
    expect(rig.provider.stats()).toMatchObject({ rejected: 0, peakInFlight: 1 });
  });

  it('that a generator passes on holds its slot until its end', async () => {
    await using rig = await start(ONE_AT_A_TIME, undefined, { concurrency: 1 });
    const client = make(rig.server.url);
    const words = from(PROMPTS).pipe(
      rig.limiter.throttle((prompt, context) => client.stream(prompt, context.signal)),
      toArray(),
    );
    const text = (await lastValueFrom(words)).filter((word) => word !== '');
    expect(text).toHaveLength(8 * PROMPTS.length);
    expect(rig.provider.stats()).toMatchObject({ rejected: 0, completed: PROMPTS.length });
    expectIdle(rig.limiter);
  });

  it('that a project only promises holds its slot until its head alone', async () => {
    await using rig = await start({ latency: 60 }, () => HANG, { concurrency: 1 });
    const client = make(rig.server.url);
    const begin = async (prompt: string, { signal }: { signal: AbortSignal }) => {
      const words = client.stream(prompt, signal)[Symbol.asyncIterator]();
      await words.next();
      return words;
    };
    const begun = await lastValueFrom(
      from(['a', 'b']).pipe(rig.limiter.throttle(begin), toArray()),
    );
    expect(begun).toHaveLength(2);
    expect(rig.server.requests.map(({ aborted }) => aborted)).toEqual([false, false]);
    expectIdle(rig.limiter);
  });

  it('that limiter.run goes through holds its slot until its end', async () => {
    await using rig = await start(ONE_AT_A_TIME, undefined, { concurrency: 1 });
    const client = make(rig.server.url);
    const texts = await Promise.all(
      PROMPTS.map((prompt) =>
        rig.limiter.run((context) => HOWS.streamed(client, prompt, context.signal)),
      ),
    );
    for (const text of texts) expect(text).toMatch(WHOLE);
    expect(rig.provider.stats().rejected).toBe(0);
    expectIdle(rig.limiter);
  });

  it('is begun again where it fails before its first word', async () => {
    await using rig = await start({}, first(2, { fault: 'status', status: 503 }));
    const client = make(rig.server.url);
    const words = from(['hello']).pipe(
      rig.limiter.throttle((prompt, context) => client.stream(prompt, context.signal)),
      toArray(),
    );
    expect((await lastValueFrom(words)).join('')).toMatch(WHOLE);
    expect(rig.server.requests).toHaveLength(3);
    expect(rig.sent.attempts).toBe(3);
  });

  it.each(['malformed', 'status'] as const)(
    'is not begun again where it fails behind that: %s',
    async (fault) => {
      await using rig = await start({ latency: 60 }, () => ({ fault, status: 529, afterWords: 3 }));
      const client = make(rig.server.url);
      const seen: string[] = [];
      const words = from(['hello']).pipe(
        rig.limiter.throttle((prompt, context) => client.stream(prompt, context.signal)),
      );
      await expect(words.forEach((word) => void seen.push(word))).rejects.toBeDefined();
      expect(seen.length).toBeGreaterThan(0);
      expect(rig.server.requests).toHaveLength(1);
      expect(rig.sent.attempts).toBe(1);
      expectIdle(rig.limiter);
    },
  );

  it('is not begun again where its connection breaks behind that', async () => {
    await using rig = await start({ latency: 60 }, () => HANG);
    const client = make(rig.server.url);
    const words = from(['hello']).pipe(
      rig.limiter.throttle((prompt, context) => client.stream(prompt, context.signal)),
    );
    // What was not read yet may be lost with the connection.
    await expect(words.forEach(() => void rig.server.close())).rejects.toBeDefined();
    expect(rig.sent.attempts).toBe(1);
    expectIdle(rig.limiter);
  });

  it('that limiter.run collects is begun again where it breaks', async () => {
    await using rig = await start({ latency: 60 }, first(2, { fault: 'reset', afterWords: 3 }));
    const client = make(rig.server.url);
    const text = rig.limiter.run((context) => HOWS.streamed(client, 'a', context.signal));
    expect(await text).toMatch(WHOLE);
    expect(rig.server.requests).toHaveLength(3);
    expectIdle(rig.limiter);
  });

  it('ends at the server when nobody listens any more', async () => {
    await using rig = await start({ latency: 60 }, () => HANG);
    const client = make(rig.server.url);
    let ended = false;
    async function* words(prompt: string, context: { signal: AbortSignal }) {
      try {
        yield* client.stream(prompt, context.signal);
      } finally {
        ended = true;
      }
    }
    const seen = from(['hello']).pipe(rig.limiter.throttle(words));
    let count = 0;
    const subscription = seen.subscribe(() => {
      count += 1;
    });
    await until(() => count >= 2);
    subscription.unsubscribe();
    expectIdle(rig.limiter);
    await until(() => rig.server.requests[0]?.aborted === true && ended);
    expect(await lastValueFrom(seen.pipe(take(1)))).toBeTypeOf('string');
    await until(() => rig.server.requests[1]?.aborted === true);
    expectIdle(rig.limiter);
  });

  it('ends at the server when a call of limiter.run is aborted', async () => {
    await using rig = await start({ latency: 60 }, () => HANG);
    const client = make(rig.server.url);
    const controller = new AbortController();
    const text = rig.limiter.run((context) => HOWS.streamed(client, 'a', context.signal), {
      signal: controller.signal,
    });
    await until(() => rig.server.requests[0]?.status === 200);
    controller.abort(new Error('enough'));
    await expect(text).rejects.toThrow('enough');
    expectIdle(rig.limiter);
    await until(() => rig.server.requests[0]?.aborted === true);
  });

  it('by limiter.fetch ends at the server when it is aborted', async () => {
    await using rig = await start({ latency: 60 }, () => HANG);
    const client = make(rig.server.url, rig.limiter.fetch);
    const controller = new AbortController();
    const text = HOWS.streamed(client, 'aborted', controller.signal);
    await until(() => rig.server.requests[0]?.status === 200);
    expect(rig.limiter.snapshot().concurrency.inFlight).toBe(1);
    expect(rig.limiter.snapshot().byteBudget.used).toBeGreaterThan(0);
    controller.abort();
    await expect(text).rejects.toThrow(/abort/);
    await until(() => rig.server.requests[0]?.aborted === true);
    expectIdle(rig.limiter);
  });

  // The reader of a stream of `ai` may leave, and the SDK reads on; with its own `fetch`, too.
  const when = sdk === 'ai' ? 'is aborted after its reader left' : 'reader leaves';
  it(`by limiter.fetch ends when its ${when}`, async () => {
    await using rig = await start({ latency: 60 }, () => HANG);
    const client = make(rig.server.url, rig.limiter.fetch);
    const controller = new AbortController();
    for await (const _word of client.stream('left', controller.signal)) break;
    if (sdk === 'ai') controller.abort();
    await until(() => rig.server.requests[0]?.aborted === true);
    await until(() => rig.limiter.snapshot().concurrency.inFlight === 0);
  });
});
