import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { paced } from 'headgate/ai';
import { describe, expect, it } from 'vitest';
import { expectIdle } from '../limiter/harness.ts';
import { first, PROMPTS, type Rig, start, WHOLE } from '../sdk/rig.ts';
import { until } from '../simulator/http/client.ts';

// Real time: a real SDK over real sockets knows no other.

/** A second request at a time is one too many for this server, and it says so. */
const ONE_AT_A_TIME = { concurrency: { units: 1, queue: 0, status: 429 } } as const;

function modelOf({ limiter, server }: Rig) {
  const openai = createOpenAI({ apiKey: 'key', baseURL: `${server.url}/v1` });
  return wrapLanguageModel({ model: openai.chat('m'), middleware: paced(limiter) });
}

type Model = ReturnType<typeof modelOf>;

const HOWS: Readonly<Record<string, (model: Model, prompt: string) => Promise<string>>> = {
  generateText: async (model, prompt) =>
    (await generateText({ model, prompt, maxOutputTokens: 8, maxRetries: 0 })).text,
  streamText: async (model, prompt) =>
    await streamText({ model, prompt, maxOutputTokens: 8, maxRetries: 0 }).text,
};

describe.each(Object.entries(HOWS))('paced, %s over HTTP', (_name, ask) => {
  it('holds its slot until the end of the answer', async () => {
    await using rig = await start(ONE_AT_A_TIME, undefined, { concurrency: 1 });
    const model = modelOf(rig);
    const texts = await Promise.all(PROMPTS.map((prompt) => ask(model, prompt)));
    for (const text of texts) expect(text).toMatch(WHOLE);
    expect(rig.provider.stats()).toMatchObject({ rejected: 0, peakInFlight: 1 });
    expectIdle(rig.limiter);
  });

  it.each([429, 503])('is retried after %d, only by the limiter', async (status) => {
    await using rig = await start({}, first(3, { fault: 'status', status, retryAfterMs: 20 }));
    const model = modelOf(rig);
    const texts = await Promise.all(PROMPTS.map((prompt) => ask(model, prompt)));
    for (const text of texts) expect(text).toMatch(WHOLE);
    expect(rig.server.requests).toHaveLength(PROMPTS.length + 3);
    expect(rig.sent.attempts).toBe(PROMPTS.length + 3);
    expect(rig.limiter.feedback.epoch).toBeGreaterThan(0);
    expectIdle(rig.limiter);
  });

  it('settles the tokens that the server has counted', async () => {
    await using rig = await start({}, undefined, { tokensPerMinute: 100_000 });
    await ask(modelOf(rig), 'hello');
    const { inputTokens, outputTokens } = rig.provider.stats();
    expect(rig.limiter.snapshot().tokensUsed).toBe(inputTokens + outputTokens);
  });
});

describe('paced, a stream over HTTP', () => {
  it('ends at the server when it is aborted', async () => {
    await using rig = await start({ latency: 60 }, () => ({ fault: 'hang', afterWords: 2 }));
    const controller = new AbortController();
    const { fullStream } = streamText({
      model: modelOf(rig),
      prompt: 'hello',
      maxRetries: 0,
      abortSignal: controller.signal,
    });
    const types: string[] = [];
    for await (const { type } of fullStream) {
      types.push(type);
      if (type !== 'text-delta') continue;
      expect(rig.limiter.snapshot().concurrency.inFlight).toBe(1);
      controller.abort();
    }
    expect(types.at(-1)).toBe('abort');
    await until(() => rig.server.requests[0]?.aborted === true);
    expectIdle(rig.limiter);
  });

  it('is not retried if it fails midway', async () => {
    await using rig = await start({ latency: 60 }, () => ({
      fault: 'status',
      status: 529,
      afterWords: 3,
    }));
    const { fullStream } = streamText({
      model: modelOf(rig),
      prompt: 'hello',
      maxRetries: 0,
      onError: () => {},
    });
    const types: string[] = [];
    for await (const { type } of fullStream) types.push(type);
    expect(types).toContain('error');
    expect(rig.server.requests).toHaveLength(1);
    expect(rig.limiter.snapshot().ended).toMatchObject({ ok: 0, failed: 1 });
    expectIdle(rig.limiter);
  });
});
