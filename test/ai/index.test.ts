import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { APICallError, generateText, streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { type CallParams, type PacedOptions, paced } from 'headgate/ai';
import { describe, expect, it, vi } from 'vitest';
import { createLimiter, type Limiter, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/index.ts';
import { expectIdle, fate } from '../limiter/harness.ts';

type Streamed = Awaited<ReturnType<MockLanguageModelV3['doStream']>>;
type Part = Streamed['stream'] extends ReadableStream<infer P> ? P : never;
type Whole = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;

const usage = (input: number, output: number, cached = 0): Whole['usage'] => ({
  inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: 0 },
  outputTokens: { total: output, text: output, reasoning: 0 },
});

const WHOLE: Whole = {
  content: [{ type: 'text', text: 'an answer' }],
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: usage(20, 10, 5),
  warnings: [],
};

const START: Part = { type: 'stream-start', warnings: [] };
const TEXT_START: Part = { type: 'text-start', id: '1' };
const word = (delta: string): Part => ({ type: 'text-delta', id: '1', delta });
const FINISH: Part = { type: 'finish', finishReason: WHOLE.finishReason, usage: WHOLE.usage };
const ANSWER = [START, TEXT_START, word('an '), word('answer'), FINISH];

const rejected = (retryAfter: string) =>
  new APICallError({
    message: 'too many',
    url: 'https://api',
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { 'retry-after': retryAfter },
  });

function streamOf(...parts: Part[]): ReadableStream<Part> {
  const source = byHand();
  source.give(...parts);
  source.end();
  return source.stream;
}

/** A stream whose parts and end the test gives. */
function byHand() {
  let controller: ReadableStreamDefaultController<Part> | undefined;
  let cancelled: unknown;
  const stream = new ReadableStream<Part>({
    start: (given) => {
      controller = given;
    },
    cancel: (reason) => {
      cancelled = reason ?? 'without a reason';
    },
  });
  return {
    stream,
    give: (...parts: Part[]) => {
      for (const part of parts) controller?.enqueue(part);
    },
    end: () => controller?.close(),
    fail: (error: unknown) => controller?.error(error),
    get cancelled() {
      return cancelled;
    },
  };
}

function rig(
  answers: ConstructorParameters<typeof MockLanguageModelV3>[0],
  limits: LimiterOptions = {},
  options?: PacedOptions | ((params: CallParams) => PacedOptions | undefined),
) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, random: () => 0, ...limits });
  const mock = new MockLanguageModelV3(answers);
  const model = wrapLanguageModel({ model: mock, middleware: paced(limiter, options) });
  return { clock, limiter, mock, model };
}

const inFlight = (limiter: Limiter) => limiter.snapshot().concurrency.inFlight;

/** Lets everything go on that waits for no time. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('paced, whole answers', () => {
  it('returns the answer unchanged, and releases all leases', async () => {
    const { limiter, model, mock } = rig({ doGenerate: WHOLE });
    const { text } = await generateText({ model, prompt: 'hello', maxRetries: 0 });
    expect(text).toBe('an answer');
    expect(mock.doGenerateCalls).toHaveLength(1);
    expect(limiter.snapshot().ended.ok).toBe(1);
    expectIdle(limiter);
  });

  it('sends as many calls at once as the limiter admits', async () => {
    const pending: (() => void)[] = [];
    const doGenerate = () =>
      new Promise<Whole>((resolve) => void pending.push(() => resolve(WHOLE)));
    const { model, limiter } = rig({ doGenerate }, { concurrency: 2 });
    const calls = ['a', 'b', 'c'].map((prompt) => generateText({ model, prompt, maxRetries: 0 }));
    await settle();
    expect(pending).toHaveLength(2);
    pending.shift()?.();
    await settle();
    expect(pending).toHaveLength(2);
    for (const end of pending) end();
    await Promise.all(calls);
    expectIdle(limiter);
  });

  it('retries a call that got a 429, after the named wait', async () => {
    let calls = 0;
    const { clock, limiter, model, mock } = rig({
      doGenerate: async () => {
        calls += 1;
        if (calls === 1) throw rejected('7');
        return WHOLE;
      },
    });
    const seen = fate(generateText({ model, prompt: 'hello', maxRetries: 0 }));
    await settle();
    expect(limiter.feedback.mode).toBe('throttled');
    await clock.advanceAsync(6_999);
    expect(mock.doGenerateCalls).toHaveLength(1);
    await clock.advanceAsync(1);
    await settle();
    expect(mock.doGenerateCalls).toHaveLength(2);
    expect(seen.state).toBe('ok');
    expectIdle(limiter);
  });

  it('charges named limits with the usage of the answer', async () => {
    const minute = { limit: 1_000, windowMs: 60_000, charge: 'settle' } as const;
    const limits = { inputTokens: minute, outputTokens: minute };
    const { limiter, model } = rig(
      { doGenerate: WHOLE },
      { limits, tokensPerMinute: 1_000 },
      ({ maxOutputTokens = 0 }) => ({ costs: { inputTokens: 1, outputTokens: maxOutputTokens } }),
    );
    await generateText({ model, prompt: 'hello', maxOutputTokens: 300, maxRetries: 0 });
    const { rateLimit = {}, tokensUsed } = limiter.snapshot();
    expect(rateLimit.inputTokens?.used).toBe(15);
    expect(rateLimit.outputTokens?.used).toBe(10);
    expect(tokensUsed).toBe(30);
  });

  it('takes the tokens of the limit from the provider’s usage', async () => {
    // Anthropic does not limit what its cache has answered for.
    const raw = { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 10 };
    const answer = { ...WHOLE, usage: { ...WHOLE.usage, raw } };
    const { limiter, model } = rig({ doGenerate: answer }, { tokensPerMinute: 1_000 });
    await generateText({ model, prompt: 'hello', maxRetries: 0 });
    expect(limiter.snapshot().tokensUsed).toBe(25);
  });

  it('charges the cost of the answer to a budget', async () => {
    const costBudget = {
      maxCost: 1,
      windowMs: 60_000,
      inputPrice: 1_000,
      cachedPrice: 100,
      outputPrice: 2_000,
    };
    const { limiter, model } = rig({ doGenerate: WHOLE }, { costBudget });
    await generateText({ model, prompt: 'hello', maxRetries: 0 });
    expect(limiter.snapshot().costBudget?.used).toBeCloseTo((15_000 + 500 + 20_000) / 1e6, 9);
  });

  it('learns the limits from the headers of the answer', async () => {
    const headers = {
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': '99',
      'x-ratelimit-reset-requests': '600ms',
    };
    const { limiter, model } = rig({ doGenerate: { ...WHOLE, response: { headers } } });
    const told: unknown[] = [];
    limiter.feedback.subscribe(({ limits }) => told.push(limits?.[0]?.limit));
    await generateText({ model, prompt: 'hello', maxRetries: 0 });
    expect(told).toEqual([100]);
  });

  it('estimates the size of the prompt, unless a size is given', async () => {
    const sizes: unknown[] = [];
    const instrumentation = {
      arrived: ({ bytes, tokens }: { bytes: number; tokens: number }) =>
        void sizes.push([bytes, tokens]),
    };
    const said = rig({ doGenerate: WHOLE }, { instrumentation }, { bytes: 7, tokens: 3 });
    await generateText({ model: said.model, prompt: 'hello', maxRetries: 0 });
    const own = rig({ doGenerate: WHOLE }, { instrumentation });
    const image = new Uint8Array(1_000);
    await generateText({
      model: own.model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x'.repeat(100) },
            { type: 'image', image, mediaType: 'image/png' },
          ],
        },
      ],
      maxRetries: 0,
    });
    expect(sizes).toEqual([
      [7, 3],
      [1_100, 25],
    ]);
  });

  it('ends with its signal, while it waits and while it runs', async () => {
    let heard: unknown;
    const doGenerate: MockLanguageModelV3['doGenerate'] = ({ abortSignal }) =>
      new Promise((_, reject) => {
        abortSignal?.addEventListener('abort', () => {
          heard = abortSignal.reason;
          reject(abortSignal.reason);
        });
      });
    const { limiter, model, mock } = rig({ doGenerate }, { concurrency: 1 });
    const first = new AbortController();
    const second = new AbortController();
    const call = ({ signal }: AbortController) =>
      fate(generateText({ model, prompt: 'a', maxRetries: 0, abortSignal: signal }));
    const runs = call(first);
    const waits = call(second);
    await settle();
    second.abort(new Error('not wanted'));
    await settle();
    expect(waits).toMatchObject({ state: 'failed', error: { message: 'not wanted' } });
    first.abort(new Error('enough'));
    await settle();
    expect(runs).toMatchObject({ state: 'failed', error: { message: 'enough' } });
    expect(heard).toMatchObject({ message: 'enough' });
    expect(mock.doGenerateCalls).toHaveLength(1);
    expectIdle(limiter);
  });

  it('calls the model in the async context of its call', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const { model } = rig(
      {
        doGenerate: async () => {
          seen.push(storage.getStore());
          await settle();
          return WHOLE;
        },
        doStream: async () => {
          seen.push(storage.getStore());
          return { stream: streamOf(...ANSWER) };
        },
      },
      { concurrency: 1 },
    );
    await Promise.all([
      storage.run('a', () => generateText({ model, prompt: '1', maxRetries: 0 })),
      storage.run('b', () => generateText({ model, prompt: '2', maxRetries: 0 })),
      storage.run('c', async () => await streamText({ model, prompt: '3' }).text),
    ]);
    expect(seen.sort()).toEqual(['a', 'b', 'c']);
  });
});

describe('paced, streamed answers', () => {
  /** Begins a stream whose parts come by hand. */
  async function begun(limits: LimiterOptions = {}, signal?: AbortSignal) {
    const source = byHand();
    const set = rig({ doStream: { stream: source.stream } }, limits);
    const params = { prompt: [], ...(signal && { abortSignal: signal }) };
    const promise = Promise.resolve(set.model.doStream(params));
    source.give(START, TEXT_START);
    const { stream } = await promise;
    return { ...set, source, stream, reader: stream.getReader() };
  }

  it('emits all parts, and holds its slot until the last one', async () => {
    const { limiter, source, reader } = await begun();
    expect((await reader.read()).value).toEqual(START);
    expect((await reader.read()).value).toEqual(TEXT_START);
    source.give(word('an '));
    expect((await reader.read()).value).toEqual(word('an '));
    expect(inFlight(limiter)).toBe(1);
    source.give(FINISH);
    expect((await reader.read()).value).toEqual(FINISH);
    expect(inFlight(limiter)).toBe(1);
    source.end();
    expect((await reader.read()).done).toBe(true);
    expect(limiter.snapshot().ended.ok).toBe(1);
    expectIdle(limiter);
  });

  it('reports the API’s answer at its first part, not at its last', async () => {
    const { limiter, model } = rig({
      doStream: async () => ({ stream: source.stream }),
    });
    const source = byHand();
    const told: string[] = [];
    limiter.feedback.subscribe(({ kind }) => told.push(kind));
    const promise = Promise.resolve(model.doStream({ prompt: [] }));
    await settle();
    expect(told).toEqual([]);
    source.give(START, TEXT_START);
    await promise;
    expect(told).toEqual(['ok']);
    source.end();
    await settle();
    expect(told).toEqual(['ok']);
    expectIdle(limiter);
  });

  it('frees its slot when the answer has arrived, even if it is not read', async () => {
    const { limiter, source } = await begun({ tokensPerMinute: 1_000 });
    source.give(word('an answer'), FINISH);
    source.end();
    await settle();
    expect(limiter.snapshot().tokensUsed).toBe(30);
    expectIdle(limiter);
  });

  it('frees its slot 30 s after it has read ahead up to its bound', async () => {
    const { clock, limiter, source } = await begun();
    source.give(...Array.from({ length: 5_000 }, () => word('x')));
    await settle();
    await clock.advanceAsync(29_999);
    expect(inFlight(limiter)).toBe(1);
    await clock.advanceAsync(1);
    expect(inFlight(limiter)).toBe(0);
  });

  it('that has freed its slot unread still ends when its signal aborts', async () => {
    const controller = new AbortController();
    const { clock, limiter, source } = await begun({}, controller.signal);
    source.give(...Array.from({ length: 5_000 }, () => word('x')));
    await settle();
    await clock.advanceAsync(30_000);
    expect(inFlight(limiter)).toBe(0);
    controller.abort(new Error('enough'));
    await settle();
    expect(source.cancelled).toMatchObject({ message: 'enough' });
    expectIdle(limiter);
  });

  it('leaves no listener at a signal that many calls share', async () => {
    const { signal } = new AbortController();
    // Node keeps what this makes, with its listeners, as long as the signal lives.
    const dependent = vi.spyOn(AbortSignal, 'any');
    const answer = async () => ({ stream: streamOf(...ANSWER) });
    const { limiter, model } = rig({ doStream: answer });
    for (let call = 0; call < 10; call += 1) {
      const { stream } = await model.doStream({ prompt: [], abortSignal: signal });
      for await (const _part of stream);
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(dependent).not.toHaveBeenCalled();
    dependent.mockRestore();
    expectIdle(limiter);
  });

  it('frees its slot when its reader cancels it, and so does the model’s stream', async () => {
    const { limiter, source, reader } = await begun();
    await reader.cancel('no more');
    await settle();
    expect(source.cancelled).toBe('no more');
    expectIdle(limiter);
  });

  it('ends when its signal aborts, even if the model ignores it', async () => {
    const controller = new AbortController();
    const { limiter, source, reader } = await begun({}, controller.signal);
    await reader.read();
    await reader.read();
    const read = fate(reader.read());
    controller.abort(new Error('enough'));
    await settle();
    expect(read).toMatchObject({ state: 'failed', error: { message: 'enough' } });
    expect(source.cancelled).toMatchObject({ message: 'enough' });
    expectIdle(limiter);
  });

  it('is cancelled if the model, which ignores the signal, begins it after the abort', async () => {
    const controller = new AbortController();
    const source = byHand();
    let begin = (_: Streamed) => {};
    const answer = new Promise<Streamed>((resolve) => {
      begin = resolve;
    });
    const { limiter, model } = rig({ doStream: () => answer });
    const call = fate(
      Promise.resolve(model.doStream({ prompt: [], abortSignal: controller.signal })),
    );
    await settle();
    controller.abort(new Error('enough'));
    await settle();
    expect(call).toMatchObject({ state: 'failed', error: { message: 'enough' } });
    begin({ stream: source.stream });
    await settle();
    expect(source.cancelled).toMatchObject({ message: 'enough' });
    expectIdle(limiter);
  });

  it('ends when its attempt has taken too long', async () => {
    const { clock, limiter, reader } = await begun({ attemptTimeoutMs: 5_000 });
    await reader.read();
    await reader.read();
    const read = fate(reader.read());
    await clock.advanceAsync(5_000);
    await settle();
    expect(read).toMatchObject({ state: 'failed', error: { code: 'ATTEMPT_TIMEOUT' } });
    expectIdle(limiter);
  });

  it('ends when its attempt takes too long before its first part', async () => {
    const source = byHand();
    const { clock, limiter, model } = rig(
      { doStream: { stream: source.stream } },
      { attemptTimeoutMs: 5_000, failedAttempts: 1 },
    );
    const call = fate(Promise.resolve(model.doStream({ prompt: [] })));
    source.give(START);
    await settle();
    await clock.advanceAsync(5_000);
    await settle();
    expect(call).toMatchObject({ state: 'failed', error: { code: 'ATTEMPT_TIMEOUT' } });
    expect(source.cancelled).toMatchObject({ code: 'ATTEMPT_TIMEOUT' });
    expectIdle(limiter);
  });

  it.each([
    ['is refused', () => Promise.reject(rejected('3'))],
    [
      'begins with an error',
      async () => ({
        stream: streamOf(START, { type: 'error', error: rejected('3') }),
      }),
    ],
  ])('is sent again where it %s', async (_how, refuse) => {
    let calls = 0;
    const { clock, limiter, model } = rig({
      doStream: async () => {
        calls += 1;
        return calls === 1 ? refuse() : { stream: streamOf(...ANSWER) };
      },
    });
    const text = Promise.resolve(streamText({ model, prompt: 'hello' }).text);
    await settle();
    expect([calls, limiter.feedback.mode]).toEqual([1, 'throttled']);
    await clock.advanceAsync(2_999);
    expect(calls).toBe(1);
    await clock.advanceAsync(1);
    expect(await text).toBe('an answer');
    expect(calls).toBe(2);
    expectIdle(limiter);
  });

  it('is not retried if it fails after its first part, and its error counts', async () => {
    const { limiter, mock, source, reader } = await begun();
    const error = rejected('3');
    source.give({ type: 'error', error });
    source.end();
    await reader.read();
    await reader.read();
    expect((await reader.read()).value).toEqual({ type: 'error', error });
    expect((await reader.read()).done).toBe(true);
    expect(mock.doStreamCalls).toHaveLength(1);
    expect(limiter.feedback.mode).toBe('throttled');
    expect(limiter.snapshot().ended).toMatchObject({ ok: 0, failed: 1 });
    expectIdle(limiter);
  });

  it('fails where its connection breaks after its first part', async () => {
    const { limiter, mock, source, reader } = await begun();
    await reader.read();
    await reader.read();
    source.fail(new Error('broken'));
    await expect(reader.read()).rejects.toThrow('broken');
    await settle();
    expect(mock.doStreamCalls).toHaveLength(1);
    expect(limiter.snapshot().ended.failed).toBe(1);
    expectIdle(limiter);
  });

  it('may be empty', async () => {
    const { limiter, model } = rig({ doStream: { stream: streamOf() } });
    const { stream } = await model.doStream({ prompt: [] });
    expect((await stream.getReader().read()).done).toBe(true);
    expectIdle(limiter);
  });
});

describe('the options of paced', () => {
  it('are those of calls, from the parameters too', async () => {
    const order: string[] = [];
    const doGenerate: MockLanguageModelV3['doGenerate'] = async ({ prompt }) => {
      order.push(JSON.stringify(prompt).includes('urgent') ? 'urgent' : 'batch');
      await settle();
      return WHOLE;
    };
    const { model } = rig({ doGenerate }, { concurrency: 1 }, ({ prompt }) => ({
      priority: JSON.stringify(prompt).includes('urgent') ? 1 : 0,
    }));
    const prompts = ['first', 'second', 'urgent'];
    await Promise.all(prompts.map((prompt) => generateText({ model, prompt, maxRetries: 0 })));
    expect(order).toEqual(['batch', 'urgent', 'batch']);
  });

  it.each([
    [() => paced({} as Limiter), '`limiter.run` must'],
    [() => paced(createLimiter(), { prio: 1 } as PacedOptions), '`prio` is no option'],
    [() => paced(createLimiter(), 'fast' as PacedOptions), '`options` must be'],
  ])('throw if they are wrong: %#', (make, message) => {
    expect(make).toThrow(message);
  });

  it('may be undefined for some calls', async () => {
    const { limiter, model } = rig(
      { doGenerate: WHOLE },
      { tokensPerMinute: 1_000 },
      () => undefined,
    );
    const { text } = await generateText({ model, prompt: 'a', maxRetries: 0 });
    expect(text).toBe('an answer');
    expectIdle(limiter);
  });

  it('reject the call if a function returns wrong ones', async () => {
    const { model } = rig({ doGenerate: WHOLE }, {}, () => ({ priority: 0.5 }));
    await expect(generateText({ model, prompt: 'a', maxRetries: 0 })).rejects.toThrow(
      '`priority` must be an integer',
    );
  });
});
